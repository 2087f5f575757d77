import type { BlobAddress } from "./address.js";
import type { BlobEntry, BlobHead, GetOptions, PutOptions, SignedRequest, SignGetOptions, SignPutOptions } from "./blob-store.js";

/** Blobs of one kind of store. Methods are those of BlobStore, for addresses of its scheme with a key. */
export interface BlobDriver {
  get(address: BlobAddress, options: GetOptions): Promise<Uint8Array | undefined>;
  put(address: BlobAddress, bytes: Uint8Array, options: PutOptions): Promise<"written" | "exists">;
  getFile(address: BlobAddress, path: string): Promise<boolean>;
  putFile(address: BlobAddress, path: string): Promise<void>;
  head(address: BlobAddress): Promise<BlobHead | undefined>;
  delete(address: BlobAddress): Promise<void>;
  /** Absent: the store has no batch deletes. */
  deleteAll?(addresses: readonly BlobAddress[]): Promise<void>;
  /** The address's key is a prefix, and may be empty. */
  list(address: BlobAddress): AsyncIterable<BlobEntry>;
  /** Absent, as is signGet: the store cannot sign. */
  signPut?(address: BlobAddress, options: SignPutOptions): Promise<SignedRequest>;
  signGet?(address: BlobAddress, options: SignGetOptions): Promise<SignedRequest>;
  close?(): void;
}
