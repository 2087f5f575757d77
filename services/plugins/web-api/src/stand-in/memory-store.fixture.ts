import { type BlobStore, BlobTooLargeError, BlobUnavailableError } from "@flyte-ts/blobstore";
import type { AttemptStore } from "../task/attempt-files.js";

/** Blobs in memory, with outages. */
export class MemoryStore implements AttemptStore {
  readonly blobs = new Map<string, Uint8Array>();
  available = true;

  get: AttemptStore["get"] = async (uri, { maxBytes } = {}) => {
    this.#check(uri);
    const bytes = this.blobs.get(uri);
    if (bytes !== undefined && maxBytes !== undefined && bytes.length > maxBytes) throw new BlobTooLargeError(uri, bytes.length, maxBytes);
    return bytes;
  };

  put: AttemptStore["put"] = async (uri, bytes) => {
    this.#check(uri);
    this.blobs.set(uri, bytes);
    return "written";
  };

  delete: BlobStore["delete"] = async (uri) => {
    this.#check(uri);
    this.blobs.delete(uri);
  };

  head: AttemptStore["head"] = async (uri) => {
    this.#check(uri);
    const bytes = this.blobs.get(uri);
    return bytes && { size: bytes.length, etag: "", modifiedAt: new Date(0), metadata: {} };
  };

  #check(uri: string): void {
    if (!this.available) throw new BlobUnavailableError(uri, "the store is down");
  }
}
