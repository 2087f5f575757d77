import { BlobTooLargeError, BlobUnavailableError } from "@flyte-ts/blobstore";
import type { DataStore } from "./result/read-result.js";

/** A blob store in memory that a test can make unavailable. */
export class MemoryStore implements DataStore {
  readonly blobs = new Map<string, Uint8Array>();
  isAway = false;

  async get(uri: string, { maxBytes }: { readonly maxBytes?: number | undefined } = {}): Promise<Uint8Array | undefined> {
    await this.#reach(uri);
    const bytes = this.blobs.get(uri);
    if (bytes !== undefined && maxBytes !== undefined && bytes.length > maxBytes) throw new BlobTooLargeError(uri, bytes.length, maxBytes);
    return bytes;
  }

  async put(uri: string, bytes: Uint8Array, options: { readonly ifAbsent?: boolean | undefined } = {}): Promise<"written" | "exists"> {
    await this.#reach(uri);
    if (options.ifAbsent === true && this.blobs.has(uri)) return "exists";
    this.blobs.set(uri, bytes);
    return "written";
  }

  async head(uri: string) {
    await this.#reach(uri);
    const bytes = this.blobs.get(uri);
    return bytes && { size: bytes.length, etag: "", modifiedAt: new Date(0), metadata: {} };
  }

  async delete(uri: string): Promise<void> {
    await this.#reach(uri);
    this.blobs.delete(uri);
  }

  async *list(prefix: string) {
    await this.#reach(prefix);
    for (const [uri, { length: size }] of [...this.blobs].sort(([one], [other]) => (one < other ? -1 : 1))) {
      if (uri.startsWith(prefix)) yield { uri, size, etag: "", modifiedAt: new Date(0) };
    }
  }

  async #reach(uri: string): Promise<void> {
    await Promise.resolve();
    if (this.isAway) throw new BlobUnavailableError(uri, "no connection");
  }
}
