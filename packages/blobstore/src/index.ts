export { createBlobStore, type BlobStoreConfig } from "./create.js";
export type { BlobEntry, BlobHead, BlobStore, GetOptions, PutOptions, SignedRequest, SignPutOptions } from "./blob-store.js";
export type { S3Config } from "./s3-driver.js";

// Failures
export { BlobError, BlobTooLarge, BlobUnavailable } from "./errors.js";
