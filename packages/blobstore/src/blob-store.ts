/** Metadata of a blob. */
export interface BlobHead {
  /** Bytes. */
  readonly size: number;
  /**
   * Changes with the content; without quotes. The content's MD5 in hex where the store knows it:
   * for blobs put in one piece.
   */
  readonly etag: string;
  readonly modifiedAt: Date;
  /** As put, with names in lower case. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** One blob of a listing. */
export interface BlobEntry {
  readonly uri: string;
  readonly size: number;
  readonly etag: string;
  readonly modifiedAt: Date;
}

/** A request that clients without credentials may make while it is valid. */
export interface PresignedRequest {
  readonly url: string;
  /** Headers that the client must send unchanged. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface GetOptions {
  /** Larger blobs are rejected with BlobTooLargeError instead of read. */
  readonly maxBytes?: number | undefined;
}

export interface PutOptions {
  /** Keep an existing blob. */
  readonly ifAbsent?: boolean | undefined;
  readonly contentType?: string | undefined;
  /** Stored with the blob, except for files. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** Maximum lifetime of a signed address, seconds: seven days, as in S3 and GCS. */
export const MAX_PRESIGN_SECONDS = 604_800;

export interface PresignGetOptions {
  /** At most MAX_PRESIGN_SECONDS. */
  readonly expiresInSeconds: number;
}

export interface PresignPutOptions extends PresignGetOptions {
  /**
   * MD5 of the content, base64. When given, the sender must send it as Content-MD5, and the store
   * accepts no other content. Azure cannot enforce it: there the address creates a blob and
   * replaces none.
   */
  readonly contentMd5?: string | undefined;
  /**
   * The address creates a blob and replaces none: the sender must send the condition in the
   * answer's headers.
   */
  readonly createOnly?: boolean | undefined;
  /**
   * Stored with the blob; the sender must send it as in the answer's headers (Azure cannot enforce
   * it).
   */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/**
 * Blobs at `s3://bucket/key`, `gs://bucket/key`, `abfs://container/key` and `file:///path`. Keys
 * are not decoded. Every method may reject with BlobUnavailableError (transient) or BlobError
 * (permanent).
 */
export interface BlobStore {
  /** Returns the content; undefined when the blob does not exist. */
  get(uri: string, options?: GetOptions): Promise<Uint8Array | undefined>;
  /**
   * Resolves when the blob is durable: `written`, or `exists` when `ifAbsent` kept an existing one.
   */
  put(uri: string, bytes: Uint8Array, options?: PutOptions): Promise<"written" | "exists">;
  /**
   * Streams the content to a local file, for blobs of any size. False when the blob does not exist.
   */
  getFile(uri: string, path: string): Promise<boolean>;
  /** Uploads a local file in parts; readers see the blob only when the upload is complete. */
  putFile(uri: string, path: string): Promise<void>;
  /** Undefined when the blob does not exist. */
  head(uri: string): Promise<BlobHead | undefined>;
  /** Deletes a blob; a missing one is no error. */
  delete(uri: string): Promise<void>;
  /**
   * Deletes blobs in as few requests as the store allows. When it rejects, any of them may be
   * deleted.
   */
  deleteAll(uris: readonly string[]): Promise<void>;
  /** Lists blobs whose address starts with `prefix`, in byte order of their keys. */
  list(prefix: string): AsyncIterable<BlobEntry>;
  /** Joins `uri` and `parts` with one slash between each. */
  join(uri: string, ...parts: readonly string[]): string;
  /** Signs a PUT. BlobError for `file://`. */
  presignPut(uri: string, options: PresignPutOptions): Promise<PresignedRequest>;
  /** Signs a GET, whether or not the blob exists. BlobError for `file://`. */
  presignGet(uri: string, options: PresignGetOptions): Promise<PresignedRequest>;
  /** Closes idle connections. */
  close(): void;
}
