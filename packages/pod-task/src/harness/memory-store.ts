import { BlobTooLargeError, BlobUnavailableError } from "@flyte-ts/blobstore";
import type { DataStore, ListingStore } from "../result/data-store.js";

/** Blobs in memory. */
export class MemoryStore implements ListingStore {
  readonly blobs = new Map<string, Uint8Array>();
  unavailable = false;

  async get(
    uri: string,
    { maxBytes = Number.POSITIVE_INFINITY }: { readonly maxBytes?: number | undefined } = {},
  ): Promise<Uint8Array | undefined> {
    await this.#checkAvailable(uri);
    const bytes = this.blobs.get(uri);
    if (bytes !== undefined && bytes.length > maxBytes) throw new BlobTooLargeError(uri, bytes.length, maxBytes);
    return bytes;
  }

  async put(uri: string, bytes: Uint8Array): Promise<"written"> {
    await this.#checkAvailable(uri);
    this.blobs.set(uri, bytes);
    return "written";
  }

  async head(uri: string): ReturnType<DataStore["head"]> {
    await this.#checkAvailable(uri);
    const bytes = this.blobs.get(uri);
    return bytes === undefined ? undefined : { size: bytes.length, etag: "", modifiedAt: new Date(0), metadata: {} };
  }

  async *list(prefix: string): ReturnType<ListingStore["list"]> {
    await this.#checkAvailable(prefix);
    const found = [...this.blobs].filter(([uri]) => uri.startsWith(prefix)).toSorted(([a], [b]) => (a < b ? -1 : 1));
    for (const [uri, bytes] of found) yield { uri, size: bytes.length, etag: "", modifiedAt: new Date(0) };
  }

  async #checkAvailable(uri: string): Promise<void> {
    await Promise.resolve();
    if (this.unavailable) throw new BlobUnavailableError(uri, "connect ECONNREFUSED");
  }
}
