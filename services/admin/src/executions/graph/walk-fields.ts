import { StoredMessageError } from "@flyte-ts/input-limits";

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;
const MAX_VARINT_BYTES = 10;
/** Bytes from here on are followed by others of the same number. */
const BYTE_WITH_MORE = 128;

/** Part of an encoded message: a message in it, or a text. */
export interface Span {
  readonly bytes: Buffer;
  readonly from: number;
  readonly to: number;
}

/**
 * Calls `visit` with the texts and messages of an encoded message, in their order. Numbers are
 * skipped.
 *
 * @throws StoredMessageError when the bytes are no message.
 */
export function walkFields({ bytes, from, to }: Span, visit: (field: number, value: Span) => void): void {
  let at = from;
  const varint = (): number => {
    const first = at < to ? (bytes[at] as number) : BYTE_WITH_MORE;
    if (first < BYTE_WITH_MORE) {
      at++;
      return first;
    }
    let [value, scale] = [0, 1];
    for (let read = 0; read < MAX_VARINT_BYTES && at < to; read++, scale *= 128) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    throw malformed();
  };
  while (at < to) {
    const tag = varint();
    const type = tag % 8;
    if (type === VARINT) varint();
    else if (type === FIXED64) at += 8;
    else if (type === FIXED32) at += 4;
    else if (type === BYTES) {
      const length = varint();
      const start = at;
      at += length;
      if (at <= to) visit(Math.floor(tag / 8), { bytes, from: start, to: at });
    } else throw malformed();
    if (at > to) throw malformed();
  }
}

/** Reads a text. */
export function textOf({ bytes, from, to }: Span): string {
  return bytes.toString("utf8", from, to);
}

function malformed(): StoredMessageError {
  return new StoredMessageError("the compiled workflow is malformed");
}
