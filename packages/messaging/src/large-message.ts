import { gunzipSync, gzipSync } from "node:zlib";
import { headers, type MsgHdrs } from "@nats-io/transport-node";
import { inflatedBound } from "@flyte-ts/input-limits";
import { MOST_UNFOLDED_BYTES } from "./limits.js";

// Messages larger than the server accepts are compressed: the text of a task's template shrinks to a fifth or less.

const ENCODING_HEADER = "Flyte-Encoding";
const GZIP = "gzip";

/** Bytes reserved in the server's limit for subject and headers. */
const HEADERS_BYTES = 4 * 1024;

/** The message, also compressed, exceeds the server's limit (`max_payload`), or a consumer's limit of decompression. */
export class MessageTooLarge extends Error {
  override readonly name = "MessageTooLarge";
}

/** The message is damaged or exceeds the limits of decompression. */
export class Unfoldable extends Error {
  override readonly name = "Unfoldable";
}

/**
 * Longest subject that is sent, bytes. A server closes the connection of a client that exceeds `max_control_line` (4
 * KiB), which also holds the reply subject.
 */
const LONGEST_SUBJECT = 2_048;

/** @throws MessageTooLarge for a subject longer than the server accepts. */
export function checkSubject(subject: string): void {
  const bytes = Buffer.byteLength(subject);
  if (bytes > LONGEST_SUBJECT)
    throw new MessageTooLarge(`a subject of ${bytes} bytes is longer than the message bus takes: ${subject.slice(0, 100)}…`);
}

/** Data and headers as sent to the server. */
export interface Fitting {
  readonly data: Uint8Array;
  readonly headers?: MsgHdrs | undefined;
}

/**
 * Compresses a message that is too large.
 *
 * @param mostBytes the server's limit; undefined until the server has announced it
 * @throws MessageTooLarge
 */
export function fitting(data: Uint8Array, mostBytes = Number.POSITIVE_INFINITY): Fitting {
  if (data.length <= mostBytes - HEADERS_BYTES) return { data };
  if (data.length > MOST_UNFOLDED_BYTES)
    throw new MessageTooLarge(`${data.length} bytes are more than the ${MOST_UNFOLDED_BYTES} that a consumer of the message bus unfolds`);
  const compressed = gzipSync(data);
  if (compressed.length > mostBytes - HEADERS_BYTES)
    throw new MessageTooLarge(
      `${data.length} bytes, ${compressed.length} compressed, are more than the message bus takes: ` +
        `its max_payload is ${mostBytes} bytes and can be raised`,
    );
  const fields = headers();
  fields.set(ENCODING_HEADER, GZIP);
  return { data: compressed, headers: fields };
}

/** True for a compressed message. */
export function isFolded({ headers: fields }: { readonly headers?: MsgHdrs | undefined }): boolean {
  return fields?.get(ENCODING_HEADER) === GZIP;
}

/**
 * Decompresses the result of `fitting`.
 *
 * @throws Unfoldable when it is damaged or too large for a consumer; then nothing is decompressed.
 */
export function unfolded({ data, headers: fields }: { readonly data: Uint8Array; readonly headers?: MsgHdrs | undefined }): Uint8Array {
  if (!isFolded({ headers: fields })) return data;
  const bytes = inflatedBound(data, "gzip", MOST_UNFOLDED_BYTES);
  if (bytes > MOST_UNFOLDED_BYTES) throw new Unfoldable(`unfolds to ${bytes} bytes, the limit is ${MOST_UNFOLDED_BYTES}`);
  try {
    return gunzipSync(data, { maxOutputLength: Math.max(bytes, 1) });
  } catch (cause) {
    const larger = (cause as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
    throw new Unfoldable(larger ? "unfolds to more than its gzip trailer says" : "cannot be decompressed", { cause });
  }
}
