export { createBlobStore, type BlobStoreConfig, schemesOf } from "./create.js";
export {
  type BlobEntry,
  type BlobHead,
  type BlobStore,
  type GetOptions,
  MAX_SIGNED_SECONDS,
  type PutOptions,
  type SignedRequest,
  type SignGetOptions,
  type SignPutOptions,
} from "./blob-store.js";
export type { S3Config } from "./s3/s3-driver.js";
export type { GcsConfig } from "./gcs/gcs-config.js";
export type { AzureConfig } from "./azure/azure-account.js";

// Failures
export { BlobAddressRefused, BlobError, BlobTooLarge, BlobUnavailable } from "./errors.js";
export type { BlobScheme } from "./address.js";
