export { type BlobAccess, BlobFailure, type ByteRange, type ListedBlob } from "./blob/blob-access.js";
export { openBlobs } from "./blob/open-blobs.js";
export { type BundleEntry, type CodeSource, RUN_FORMAT, type RunAddresses, type RunRequest } from "./run-request.js";
export {
  type BundledTask,
  type BundleManifest,
  cacheVersionOf,
  ENTRY_FILE,
  type ExternalPackage,
  MANIFEST_FILE,
  thisPlatform,
} from "./manifest.js";
