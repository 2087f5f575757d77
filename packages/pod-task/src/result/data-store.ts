import type { BlobStore } from "@flyte-ts/blobstore";

/** The part of the blob store that plugins use. */
export type DataStore = Pick<BlobStore, "get" | "put" | "head">;

/** A store that also lists, for attempts of several processes. */
export type ListingStore = DataStore & Pick<BlobStore, "list">;
