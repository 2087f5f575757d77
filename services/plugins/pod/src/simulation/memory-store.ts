import { BlobTooLargeError, BlobUnavailableError } from "@flyte-ts/blobstore";
import type { DataStore } from "../end/data-store.js";

/** Blobs in memory. */
export class MemoryStore implements DataStore {
  readonly blobs = new Map<string, Uint8Array>();
  down = false;

  async get(
    uri: string,
    { maxBytes = Number.POSITIVE_INFINITY }: { readonly maxBytes?: number | undefined } = {},
  ): Promise<Uint8Array | undefined> {
    await this.#reach(uri);
    const bytes = this.blobs.get(uri);
    if (bytes !== undefined && bytes.length > maxBytes) throw new BlobTooLargeError(uri, bytes.length, maxBytes);
    return bytes;
  }

  async put(uri: string, bytes: Uint8Array): Promise<"written"> {
    await this.#reach(uri);
    this.blobs.set(uri, bytes);
    return "written";
  }

  async head(uri: string): ReturnType<DataStore["head"]> {
    await this.#reach(uri);
    const bytes = this.blobs.get(uri);
    return bytes === undefined ? undefined : { size: bytes.length, etag: "", modifiedAt: new Date(0), metadata: {} };
  }

  async #reach(uri: string): Promise<void> {
    await Promise.resolve();
    if (this.down) throw new BlobUnavailableError(uri, "connect ECONNREFUSED");
  }
}
