import type { BlobLocation } from "./blob-uri.js";
import type { BlobEntry, BlobHead, GetOptions, PutOptions, PresignedRequest, PresignGetOptions, PresignPutOptions } from "./blob-store.js";

/**
 * Blobs of one kind of store. Methods are those of BlobStore, for addresses of its scheme with a
 * key.
 */
export interface BlobDriver {
  get(location: BlobLocation, options: GetOptions): Promise<Uint8Array | undefined>;
  put(location: BlobLocation, bytes: Uint8Array, options: PutOptions): Promise<"written" | "exists">;
  getFile(location: BlobLocation, path: string): Promise<boolean>;
  putFile(location: BlobLocation, path: string): Promise<void>;
  head(location: BlobLocation): Promise<BlobHead | undefined>;
  delete(location: BlobLocation): Promise<void>;
  /** Absent: the store has no batch deletes. */
  deleteAll?(addresses: readonly BlobLocation[]): Promise<void>;
  /** The address's key is a prefix, and may be empty. */
  list(location: BlobLocation): AsyncIterable<BlobEntry>;
  /** Absent, as is `presignGet`: the store cannot sign. */
  presignPut?(location: BlobLocation, options: PresignPutOptions): Promise<PresignedRequest>;
  presignGet?(location: BlobLocation, options: PresignGetOptions): Promise<PresignedRequest>;
  close?(): void;
}
