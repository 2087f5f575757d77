import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/**
 * Maps each value of one field of an encoded message with `mapValue`; undefined removes the value.
 */
export function mapField(message: Uint8Array, field: number, mapValue: (value: Uint8Array) => Uint8Array | undefined): Uint8Array {
  const writer = new BinaryWriter();
  for (const { number, value, raw } of encodedFields(message)) {
    const changed = number === field && value !== undefined ? mapValue(value) : value;
    if (changed === value) writer.raw(raw);
    else if (changed !== undefined) writer.tag(number, WireType.LengthDelimited).bytes(changed);
  }
  return writer.finish();
}

/** Iterates over the values of one field, in order; views into the message. */
export function* fieldValues(message: Uint8Array, field: number): Generator<Uint8Array> {
  for (const { number, value } of encodedFields(message)) if (number === field && value !== undefined) yield value;
}

interface EncodedField {
  readonly number: number;
  /** Value of a length-delimited field: a message, text, bytes. */
  readonly value: Uint8Array | undefined;
  /** Including the tag. */
  readonly raw: Uint8Array;
}

function* encodedFields(message: Uint8Array): Generator<EncodedField> {
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const [number, type] = reader.tag();
    let value: Uint8Array | undefined;
    if (type === WireType.LengthDelimited) value = reader.bytes();
    else reader.skip(type, number);
    yield { number, value, raw: message.subarray(start, reader.pos) };
  }
}
