import { type ByteCursor, MalformedMessageError, readVarint } from "./read-varints.js";

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

/** Fields of a message by their numbers; a message has each of these types of fields. */
export interface FieldReaders {
  readonly number?: (field: number, value: number) => void;
  readonly bytes?: (field: number, bytes: Uint8Array) => void;
}

/**
 * Reads the fields of an encoded protobuf message in their order. Fields of fixed width are
 * skipped.
 *
 * @throws MalformedMessageError when the bytes are no message.
 */
export function readFields(bytes: Uint8Array, { number, bytes: nested }: FieldReaders): void {
  const cursor: ByteCursor = { bytes, at: 0 };
  while (cursor.at < bytes.length) {
    const tag = readVarint(cursor);
    const [field, type] = [Math.floor(tag / 8), tag % 8];
    if (type === VARINT) number?.(field, readVarint(cursor));
    else if (type === BYTES) nested?.(field, take(cursor, readVarint(cursor)));
    else if (type === FIXED64) take(cursor, 8);
    else if (type === FIXED32) take(cursor, 4);
    else throw new MalformedMessageError(`field ${field} has the unknown type ${type}`);
  }
}

/** Takes the next bytes without a copy. */
function take(cursor: ByteCursor, length: number): Uint8Array {
  const end = cursor.at + length;
  if (end > cursor.bytes.length) throw new MalformedMessageError("a field is cut off");
  const taken = cursor.bytes.subarray(cursor.at, end);
  cursor.at = end;
  return taken;
}
