import { headers, type MsgHdrs } from "@nats-io/transport-node";

// Several messages of one subject that travel as one: each costs the server, and both ends, as much as all of them together.

/** Marks a message that holds others; its value is their number. */
export const BUNDLE_HEADER = "Flyte-Bundle";

const LENGTH_BYTES = 4;

/** The messages one after the other, each behind its length (32 bits, big-endian). */
export function encodeBundle(parts: readonly Uint8Array[]): { readonly data: Uint8Array; readonly headers: MsgHdrs } {
  const data = Buffer.allocUnsafe(parts.reduce((sum, { length }) => sum + LENGTH_BYTES + length, 0));
  let at = 0;
  for (const part of parts) {
    at = data.writeUInt32BE(part.length, at);
    data.set(part, at);
    at += part.length;
  }
  const fields = headers();
  fields.set(BUNDLE_HEADER, String(parts.length));
  return { data, headers: fields };
}

/** What `encodeBundle` was given; undefined when the lengths do not add up, or there are more than `most`. */
export function decodeBundle(data: Uint8Array, most = Number.POSITIVE_INFINITY): readonly Uint8Array[] | undefined {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const parts: Uint8Array[] = [];
  let at = 0;
  while (at < bytes.length) {
    if (at + LENGTH_BYTES > bytes.length) return undefined;
    const end = at + LENGTH_BYTES + bytes.readUInt32BE(at);
    if (end > bytes.length || parts.length === most) return undefined;
    parts.push(data.subarray(at + LENGTH_BYTES, end));
    at = end;
  }
  return parts;
}
