import { joinUri, parseAddress, type BlobAddress } from "./address.js";
import type { BlobStore } from "./blob-store.js";
import { BlobError } from "./errors.js";
import { FileDriver } from "./file-driver.js";
import { S3Driver, type S3Config } from "./s3-driver.js";

export interface BlobStoreConfig {
  readonly s3?: S3Config | undefined;
}

/** A blob store for both schemes. Nothing is connected or loaded before the first call needs it. */
export function createBlobStore({ s3 = {} }: BlobStoreConfig): BlobStore {
  const files = new FileDriver();
  const buckets = new S3Driver(s3);
  return {
    get: async (uri, options = {}) => {
      const address = parseBlob(uri);
      return address.scheme === "s3" ? buckets.get(address, options) : files.get(address, options);
    },
    put: async (uri, bytes, options = {}) => {
      const address = parseBlob(uri);
      return address.scheme === "s3" ? buckets.put(address, bytes, options) : files.put(address, bytes, options);
    },
    getFile: async (uri, path) => {
      const address = parseBlob(uri);
      return address.scheme === "s3" ? buckets.getFile(address, path) : files.getFile(address, path);
    },
    putFile: async (uri, path) => {
      const address = parseBlob(uri);
      await (address.scheme === "s3" ? buckets.putFile(address, path) : files.putFile(address, path));
    },
    head: async (uri) => {
      const address = parseBlob(uri);
      return address.scheme === "s3" ? buckets.head(address) : files.head(address);
    },
    delete: async (uri) => {
      const address = parseBlob(uri);
      return address.scheme === "s3" ? buckets.delete(address) : files.delete(address);
    },
    list: (prefix) => {
      const address = parseAddress(prefix);
      return address.scheme === "s3" ? buckets.list(address) : files.list(address);
    },
    join: joinUri,
    signPut: async (uri, options) => buckets.signPut(signable(uri), options),
    signGet: async (uri, options) => buckets.signGet(signable(uri), options),
    close: () => buckets.close(),
  };
}

function parseBlob(uri: string): BlobAddress {
  const address = parseAddress(uri);
  if (address.scheme === "s3" && address.key === "") throw new BlobError(uri, "names a bucket, not a blob");
  return address;
}

function signable(uri: string): Extract<BlobAddress, { scheme: "s3" }> {
  const address = parseBlob(uri);
  if (address.scheme === "file") throw new BlobError(uri, "files of a machine cannot be signed for others");
  return address;
}
