/** Numbers that fit into this many bytes are put together with bit operations. */
const MAX_SMALL_BYTES = 4;
/** Bytes of the longest varint that a number holds exactly (2^53). */
const MAX_BYTES = 8;

/** Thrown for bytes that are not the message they should be. */
export class MalformedMessageError extends Error {
  override readonly name = "MalformedMessageError";
}

/** Position in bytes that are read from the front. */
export interface ByteCursor {
  readonly bytes: Uint8Array;
  at: number;
}

/**
 * Reads an unsigned base-128 varint of at most 2^53.
 *
 * @throws MalformedMessageError when the bytes end within it, or it is longer.
 */
export function readVarint(cursor: ByteCursor): number {
  let [value, scale] = [0, 1];
  for (let read = 0; read < MAX_BYTES; read++, scale *= 128) {
    const byte = cursor.bytes[cursor.at++];
    if (byte === undefined) throw new MalformedMessageError("a varint is cut off");
    value += (byte & 127) * scale;
    if (byte < 128) return value;
  }
  throw new MalformedMessageError("a varint is too long");
}

/** Inverts zigzag encoding: 0, 1, 2, 3 … stand for 0, −1, 1, −2 …. */
function unzigzag(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

/**
 * Reads a column of `length` zigzag varints.
 *
 * @throws MalformedMessageError when the bytes are not exactly that many varints.
 */
export function readVarints(bytes: Uint8Array, length: number): Float64Array {
  const values = new Float64Array(length);
  const cursor = { bytes, at: 0 };
  for (let row = 0; row < length; row++) values[row] = readZigzag(cursor);
  if (cursor.at !== bytes.length) throw new MalformedMessageError("a column has bytes after its last row");
  return values;
}

/** Reads a column of varints, each the difference to the row before. */
export function readDeltas(bytes: Uint8Array, length: number): Float64Array {
  const values = readVarints(bytes, length);
  for (let row = 1; row < length; row++) values[row] = (values[row] as number) + (values[row - 1] as number);
  return values;
}

/** Reads a zigzag varint and advances the cursor. */
export function readZigzag(cursor: ByteCursor): number {
  const { bytes, at } = cursor;
  const first = bytes[at] as number;
  if (first < 128) {
    cursor.at = at + 1;
    return (first >>> 1) ^ -(first & 1);
  }
  let value = first & 127;
  for (let read = 1; read < MAX_SMALL_BYTES; read++) {
    const byte = bytes[at + read] as number;
    value |= (byte & 127) << (7 * read);
    if (byte < 128) {
      cursor.at = at + read + 1;
      return (value >>> 1) ^ -(value & 1);
    }
  }
  return unzigzag(readVarint(cursor));
}
