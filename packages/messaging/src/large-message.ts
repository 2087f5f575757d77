import { gunzipSync, gzipSync } from "node:zlib";
import { headers, type MsgHdrs } from "@nats-io/transport-node";

// What is larger than the server takes travels compressed: the text of a task's template shrinks to a fifth and less.

const ENCODING_HEADER = "Flyte-Encoding";
const GZIP = "gzip";

/** Most that a compressed message may unfold to, bytes: what gRPC takes at most, and more. */
const MOST_BYTES = 256 * 1024 * 1024;

/** Room in the server's limit for subject and headers, bytes. */
const HEADERS_BYTES = 4 * 1024;

/** The message is larger than the server takes (`max_payload`), compressed too. */
export class MessageTooLarge extends Error {
  override readonly name = "MessageTooLarge";

  constructor(bytes: number, compressed: number, mostBytes: number) {
    super(
      `${bytes} bytes, ${compressed} compressed, are more than the message bus takes: its max_payload is ${mostBytes} bytes and can be raised`,
    );
  }
}

/** What of a message goes to the server. */
export interface Fitting {
  readonly data: Uint8Array;
  readonly headers?: MsgHdrs | undefined;
}

/**
 * @param mostBytes what the server takes; undefined as long as it has not said so
 * @throws MessageTooLarge
 */
export function fitting(data: Uint8Array, mostBytes = Number.POSITIVE_INFINITY): Fitting {
  if (data.length <= mostBytes - HEADERS_BYTES) return { data };
  const compressed = gzipSync(data);
  if (compressed.length > mostBytes - HEADERS_BYTES) throw new MessageTooLarge(data.length, compressed.length, mostBytes);
  const fields = headers();
  fields.set(ENCODING_HEADER, GZIP);
  return { data: compressed, headers: fields };
}

/** What `fitting` was given; what does not unfold stays as it is, for whoever takes it to find unreadable. */
export function unfolded({ data, headers: fields }: { readonly data: Uint8Array; readonly headers?: MsgHdrs | undefined }): Uint8Array {
  if (fields?.get(ENCODING_HEADER) !== GZIP) return data;
  try {
    return gunzipSync(data, { maxOutputLength: MOST_BYTES });
  } catch {
    return data;
  }
}
