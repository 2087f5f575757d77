import { type BlobStore, BlobTooLargeError, BlobUnavailableError } from "@flyte-ts/blobstore";

/** Blobs in memory, with outages. */
export class MemoryStore implements Pick<BlobStore, "get" | "put" | "head" | "delete" | "list"> {
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

  async put(
    uri: string,
    bytes: Uint8Array,
    { ifAbsent = false }: { readonly ifAbsent?: boolean | undefined } = {},
  ): Promise<"written" | "exists"> {
    await this.#checkAvailable(uri);
    if (ifAbsent && this.blobs.has(uri)) return "exists";
    this.blobs.set(uri, bytes);
    return "written";
  }

  async head(uri: string): ReturnType<BlobStore["head"]> {
    await this.#checkAvailable(uri);
    const bytes = this.blobs.get(uri);
    return bytes === undefined ? undefined : { size: bytes.length, etag: "", modifiedAt: new Date(0), metadata: {} };
  }

  async delete(uri: string): Promise<void> {
    await this.#checkAvailable(uri);
    this.blobs.delete(uri);
  }

  async *list(prefix: string): ReturnType<BlobStore["list"]> {
    await this.#checkAvailable(prefix);
    const found = [...this.blobs].filter(([uri]) => uri.startsWith(prefix)).toSorted(([a], [b]) => (a < b ? -1 : 1));
    for (const [uri, bytes] of found) yield { uri, size: bytes.length, etag: "", modifiedAt: new Date(0) };
  }

  async #checkAvailable(uri: string): Promise<void> {
    await Promise.resolve();
    if (this.unavailable) throw new BlobUnavailableError(uri, "no connection: connect ECONNREFUSED");
  }
}
