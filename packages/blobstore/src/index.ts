export { createBlobStore, type BlobStoreConfig, schemesOf } from "./create-blob-store.js";
export {
  type BlobEntry,
  type BlobHead,
  type BlobStore,
  type GetOptions,
  MAX_PRESIGN_SECONDS,
  type PutOptions,
  type PresignedRequest,
  type PresignGetOptions,
  type PresignPutOptions,
} from "./blob-store.js";
export type { S3Config } from "./s3/s3-driver.js";
export type { GcsConfig } from "./gcs/gcs-config.js";
export type { AzureConfig } from "./azure/azure-account.js";

// Failures
export { BlobUriError, BlobError, BlobTooLargeError, BlobUnavailableError } from "./errors.js";
export type { BlobScheme } from "./blob-uri.js";
