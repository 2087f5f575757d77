import { gunzipSync, gzipSync } from "node:zlib";
import { headers, type MsgHdrs } from "@nats-io/transport-node";
import { maxInflatedBytes } from "@flyte-ts/input-limits";
import { MAX_DECOMPRESSED_BYTES } from "../limits.js";

// Messages larger than the server accepts are compressed: the text of a task's template shrinks to
// a fifth or less.

const ENCODING_HEADER = "Flyte-Encoding";
const GZIP = "gzip";

/** Bytes reserved in the server's limit for subject and headers. */
const HEADERS_BYTES = 4 * 1024;

/**
 * The message, also compressed, exceeds the server's limit (`max_payload`), or a consumer's limit
 * of decompression.
 */
export class MessageTooLarge extends Error {
  override readonly name = "MessageTooLarge";
}

/** The message is damaged or exceeds the limits of decompression. */
export class UnpackError extends Error {
  override readonly name = "UnpackError";
}

/**
 * Longest subject that is sent, bytes. A server closes the connection of a client that exceeds
 * `max_control_line` (4 KiB), which also holds the reply subject.
 */
const MAX_SUBJECT_BYTES = 2_048;

/** @throws MessageTooLarge for a subject longer than the server accepts. */
export function checkSubject(subject: string): void {
  const bytes = Buffer.byteLength(subject);
  if (bytes > MAX_SUBJECT_BYTES)
    throw new MessageTooLarge(`a subject of ${bytes} bytes exceeds the limit of ${MAX_SUBJECT_BYTES} bytes: ${subject.slice(0, 100)}…`);
}

/** Data and headers as sent to the server. */
export interface Payload {
  readonly data: Uint8Array;
  readonly headers?: MsgHdrs | undefined;
}

/**
 * Compresses a message that is too large.
 *
 * @param maxPayloadBytes the server's limit; undefined until the server has announced it
 * @throws MessageTooLarge
 */
export function compressIfTooLarge(data: Uint8Array, maxPayloadBytes = Number.POSITIVE_INFINITY): Payload {
  if (data.length <= maxPayloadBytes - HEADERS_BYTES) return { data };
  if (data.length > MAX_DECOMPRESSED_BYTES)
    throw new MessageTooLarge(
      `${data.length} bytes exceed the limit of ${MAX_DECOMPRESSED_BYTES} bytes that consumers of the message bus decompress`,
    );
  const compressed = gzipSync(data);
  if (compressed.length > maxPayloadBytes - HEADERS_BYTES)
    throw new MessageTooLarge(
      `${data.length} bytes, ${compressed.length} compressed, exceed the limit of the message bus: ` +
        `max_payload is ${maxPayloadBytes} bytes and can be raised`,
    );
  const messageHeaders = headers();
  messageHeaders.set(ENCODING_HEADER, GZIP);
  return { data: compressed, headers: messageHeaders };
}

/** True for a compressed message. */
export function isCompressed({ headers: messageHeaders }: { readonly headers?: MsgHdrs | undefined }): boolean {
  return messageHeaders?.get(ENCODING_HEADER) === GZIP;
}

/**
 * Decompresses the result of `compressIfTooLarge`.
 *
 * @throws UnpackError when it is damaged or too large for a consumer; then nothing is decompressed.
 */
export function decompress({
  data,
  headers: messageHeaders,
}: {
  readonly data: Uint8Array;
  readonly headers?: MsgHdrs | undefined;
}): Uint8Array {
  if (!isCompressed({ headers: messageHeaders })) return data;
  const bytes = maxInflatedBytes(data, "gzip", MAX_DECOMPRESSED_BYTES);
  if (bytes > MAX_DECOMPRESSED_BYTES) throw new UnpackError(`has ${bytes} bytes when decompressed, the limit is ${MAX_DECOMPRESSED_BYTES}`);
  try {
    return gunzipSync(data, { maxOutputLength: Math.max(bytes, 1) });
  } catch (cause) {
    const tooLarge = (cause as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
    throw new UnpackError(tooLarge ? "is larger when decompressed than its gzip trailer says" : "cannot be decompressed", { cause });
  }
}
