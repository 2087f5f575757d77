import { openS3 } from "../s3/s3-blobs.js";
import { type BlobAccess, BlobFailure } from "./blob-access.js";
import { cloudBlobs } from "./cloud-blobs.js";
import { fileBlobs } from "./file-blobs.js";
import { webBlobs } from "./web-blobs.js";

/**
 * Opens blobs at `s3://`, `gs://`, `abfs://`, `file://`, absolute paths, and for reading
 * `https://`. Credentials come from the environment, and only when an address needs them.
 */
export function openBlobs(environment: Readonly<Record<string, string | undefined>>): BlobAccess {
  const s3 = openS3(environment);
  const clouds = cloudBlobs();
  const driverOf = (uri: string): BlobAccess => {
    const scheme = /^([a-z0-9]+):\/\//.exec(uri)?.[1];
    switch (scheme) {
      case "s3":
      case "s3a":
        return s3;
      case "gs":
      case "abfs":
      case "abfss":
        return clouds;
      case "https":
      case "http":
        return webBlobs;
      case "file":
        return fileBlobs;
      default:
        if (uri.startsWith("/")) return fileBlobs;
        throw new BlobFailure(uri, "the address must begin with s3://, gs://, abfs://, file:// or https://", { transient: false });
    }
  };
  return {
    read: async (uri, options) => driverOf(uri).read(uri, options),
    stream: async (uri, range) => driverOf(uri).stream(uri, range),
    write: async (uri, bytes) => driverOf(uri).write(uri, bytes),
    writeStream: async (uri, pieces) => driverOf(uri).writeStream(uri, pieces),
    size: async (uri) => driverOf(uri).size(uri),
    list: (prefix) => driverOf(prefix).list(prefix),
  };
}
