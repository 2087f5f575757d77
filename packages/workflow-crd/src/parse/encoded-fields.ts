import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** Maps each value of one field of an encoded message with `change`; undefined removes the value. */
export function rewriteField(message: Uint8Array, field: number, change: (value: Uint8Array) => Uint8Array | undefined): Uint8Array {
  const writer = new BinaryWriter();
  for (const { number, value, whole } of fieldsOf(message)) {
    const changed = number === field && value !== undefined ? change(value) : value;
    if (changed === value) writer.raw(whole);
    else if (changed !== undefined) writer.tag(number, WireType.LengthDelimited).bytes(changed);
  }
  return writer.finish();
}

/** Iterates over the values of one field, in order; views into the message. */
export function* messagesIn(message: Uint8Array, field: number): Generator<Uint8Array> {
  for (const { number, value } of fieldsOf(message)) if (number === field && value !== undefined) yield value;
}

interface EncodedField {
  readonly number: number;
  /** Value of a length-delimited field: a message, text, bytes. */
  readonly value: Uint8Array | undefined;
  /** Including the tag. */
  readonly whole: Uint8Array;
}

function* fieldsOf(message: Uint8Array): Generator<EncodedField> {
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const [number, type] = reader.tag();
    let value: Uint8Array | undefined;
    if (type === WireType.LengthDelimited) value = reader.bytes();
    else reader.skip(type, number);
    yield { number, value, whole: message.subarray(start, reader.pos) };
  }
}
