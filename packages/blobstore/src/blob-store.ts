/** What is known of a blob without reading it. */
export interface BlobHead {
  /** Bytes. */
  readonly size: number;
  /** Changes whenever the content does; without quotes. The content's MD5 in hex where the store knows it: of blobs put in one piece. */
  readonly etag: string;
  readonly modifiedAt: Date;
  /** As it was put, names in lower case. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** One blob of a listing. */
export interface BlobEntry {
  readonly uri: string;
  readonly size: number;
  readonly etag: string;
  readonly modifiedAt: Date;
}

/** A request that somebody without keys may make for as long as it is valid. */
export interface SignedRequest {
  readonly url: string;
  /** Headers that must be sent exactly so. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface GetOptions {
  /** A larger blob is not read but refused with BlobTooLarge. */
  readonly maxBytes?: number | undefined;
}

export interface PutOptions {
  /** Leave what is there already. */
  readonly ifNoneMatch?: boolean | undefined;
  readonly contentType?: string | undefined;
  /** Kept with the blob, but for files. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** Longest life of a signed address, seconds: seven days, as S3 and GCS have it. */
export const MAX_SIGNED_SECONDS = 604_800;

export interface SignGetOptions {
  /** At most MAX_SIGNED_SECONDS. */
  readonly expiresInSeconds: number;
}

export interface SignPutOptions extends SignGetOptions {
  /**
   * MD5 of the content, base64. When given, the sender must send it as Content-MD5, and the store takes no other content. Azure
   * cannot insist: there the address creates a blob and replaces none.
   */
  readonly contentMd5?: string | undefined;
  /** The address creates a blob and replaces none: the sender must send the condition as it stands in the answer's headers. */
  readonly createOnly?: boolean | undefined;
  /** Kept with the blob; the sender must send it as it stands in the answer's headers (Azure cannot insist). */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/**
 * Blobs at `s3://bucket/key`, `gs://bucket/key`, `abfs://container/key` and `file:///path`. Keys are taken as they are, without
 * decoding. Every method may reject with BlobUnavailable (try again later) or
 * BlobError (do not).
 */
export interface BlobStore {
  /** The content; undefined when there is no such blob. */
  get(uri: string, options?: GetOptions): Promise<Uint8Array | undefined>;
  /** Resolves when the blob is durable: `written`, or `exists` when ifNoneMatch left what was there. */
  put(uri: string, bytes: Uint8Array, options?: PutOptions): Promise<"written" | "exists">;
  /** Writes the content to a file of this machine, piece by piece: for blobs of any size. False when there is no such blob. */
  getFile(uri: string, path: string): Promise<boolean>;
  /** Puts a file of this machine, piece by piece; nobody sees the blob before all of it is there. */
  putFile(uri: string, path: string): Promise<void>;
  /** Undefined when there is no such blob. */
  head(uri: string): Promise<BlobHead | undefined>;
  /** A blob that is not there is no error. */
  delete(uri: string): Promise<void>;
  /** Deletes many, in as few requests as the store allows. When it rejects, any of them may be gone. */
  deleteAll(uris: readonly string[]): Promise<void>;
  /** Blobs whose address starts with `prefix`, in the order of their keys' bytes. */
  list(prefix: string): AsyncIterable<BlobEntry>;
  /** `uri` and `parts` with one slash between each. */
  join(uri: string, ...parts: readonly string[]): string;
  /** A PUT to the address. BlobError for `file://`. */
  signPut(uri: string, options: SignPutOptions): Promise<SignedRequest>;
  /** A GET of the address, whether the blob is there or not. BlobError for `file://`. */
  signGet(uri: string, options: SignGetOptions): Promise<SignedRequest>;
  /** Drops idle connections. */
  close(): void;
}
