import { promisify } from "node:util";
import { gunzip, inflate } from "node:zlib";

const gunzipAsync = promisify(gunzip);
const inflateAsync = promisify(inflate);

/** Encodings of compressed messages, as gRPC names them. */
export type Compression = "gzip" | "deflate";

/** Compressed bytes that are rejected: larger than allowed when decompressed, or damaged. */
export class InflateError extends Error {
  override readonly name = "InflateError";

  constructor(
    readonly kind: "bytes" | "malformed",
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

const MIN_GZIP_BYTES = 18;
const TRAILER_SIZE_BYTES = 4;

/**
 * Limits of the pieces in which zlib returns a result: many small ones cost more than the
 * decompression.
 */
const CHUNK_BYTES = { min: 16 * 1024, max: 256 * 1024 };
/** Assumed ratio of decompressed to compressed size. */
const ASSUMED_RATIO = 8;

/**
 * Upper bound of the size after decompression, bytes. A gzip member ends with its size modulo 2^32
 * (RFC 1952, 2.3.1), which an honest sender fills in; `maxBytes` without that size.
 */
export function maxInflatedBytes(bytes: Uint8Array, compression: Compression, maxBytes: number): number {
  if (compression !== "gzip" || bytes.length < MIN_GZIP_BYTES) return maxBytes;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return view.getUint32(bytes.length - TRAILER_SIZE_BYTES, true);
}

/**
 * Decompresses outside the event loop and stops as soon as the result would be larger than allowed,
 * or than the trailer of a gzip member says.
 *
 * @throws InflateError `bytes` where the result would be larger than `maxBytes`, `malformed` where
 *   it cannot be decompressed.
 */
export async function inflateBounded(bytes: Uint8Array, compression: Compression, maxBytes: number): Promise<Buffer> {
  const maxOutputBytes = maxInflatedBytes(bytes, compression, maxBytes);
  const tooLarge = (): InflateError => new InflateError("bytes", `is larger than ${maxBytes} bytes when decompressed`);
  if (maxOutputBytes > maxBytes) throw tooLarge();
  try {
    // zlib accepts no bound of 0.
    const options = { maxOutputLength: Math.max(maxOutputBytes, 1), chunkSize: chunkBytes(bytes.length) };
    return await (compression === "gzip" ? gunzipAsync : inflateAsync)(bytes, options);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_BUFFER_TOO_LARGE")
      throw new InflateError("malformed", "cannot be decompressed", { cause: error });
    if (maxOutputBytes === maxBytes) throw tooLarge();
    throw new InflateError("malformed", "is larger when decompressed than its gzip trailer says", { cause: error });
  }
}

function chunkBytes(compressedBytes: number): number {
  return Math.min(CHUNK_BYTES.max, Math.max(CHUNK_BYTES.min, compressedBytes * ASSUMED_RATIO));
}
