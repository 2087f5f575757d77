/** Part of a blob. */
export interface ByteRange {
  /** First byte; default 0. */
  readonly offset?: number;
  /** Number of bytes; default: up to the end. */
  readonly length?: number;
}

/** Entry of a listing. */
export interface ListedBlob {
  readonly uri: string;
  /** Bytes. */
  readonly size: number;
}

/**
 * Access to blobs by their addresses. The bootstrap hands it to bundles, so methods and their
 * meaning belong to the contract with them: additions need no new format number, changes do.
 *
 * Failures are errors with a boolean `transient`: true when a new attempt of the task may succeed.
 */
export interface BlobAccess {
  /**
   * Returns the content; undefined when the blob does not exist. Rejects a blob of more than
   * `maxBytes` before reading it.
   */
  read(uri: string, options: { readonly maxBytes: number }): Promise<Uint8Array | undefined>;
  /** Returns the content in pieces; undefined when the blob does not exist. */
  stream(uri: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Resolves when the blob is durable. */
  write(uri: string, bytes: Uint8Array): Promise<void>;
  /** Writes pieces of any size; readers see the blob only when it is complete. */
  writeStream(uri: string, pieces: AsyncIterable<Uint8Array>): Promise<void>;
  /** Returns the size in bytes; undefined when the blob does not exist. */
  size(uri: string): Promise<number | undefined>;
  /** Lists blobs whose address starts with `prefix`, in byte order of their keys. */
  list(prefix: string): AsyncIterable<ListedBlob>;
}

/** A blob could not be read or written. */
export class BlobFailure extends Error {
  override readonly name = "BlobFailure";
  /** True when a retry may succeed. */
  readonly transient: boolean;

  constructor(uri: string, reason: string, options: { readonly transient: boolean; readonly cause?: unknown }) {
    super(`${uri}: ${reason}`, { cause: options.cause });
    this.transient = options.transient;
  }
}

/** Rejects a blob that is too large to be read at once. */
export function checkSize(uri: string, size: number, maxBytes: number): void {
  if (size > maxBytes) throw new BlobFailure(uri, `has ${size} bytes, more than the ${maxBytes} that may be read`, { transient: false });
}

/** Collects the pieces of a blob; fails as soon as there are more than `maxBytes`. */
export async function collect(uri: string, pieces: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    checkSize(uri, size, maxBytes);
    parts.push(piece);
  }
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
}
