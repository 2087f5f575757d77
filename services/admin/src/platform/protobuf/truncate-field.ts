import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/**
 * Truncates one text field of an encoded message to at most `maxBytes` of UTF-8, never within a
 * character; returns the same bytes when it is not longer.
 */
export function truncateField(message: Uint8Array, field: number, maxBytes: number): Uint8Array {
  if (message.length <= maxBytes) return message;
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const before = reader.pos;
    const [number, wireType] = reader.tag();
    if (number !== field || wireType !== WireType.LengthDelimited) {
      reader.skip(wireType, number);
      continue;
    }
    const text = reader.bytes();
    if (text.length <= maxBytes) continue;
    const truncated = new BinaryWriter()
      .tag(field, wireType)
      .bytes(text.subarray(0, endOfCharacter(text, maxBytes)))
      .finish();
    return Buffer.concat([message.subarray(0, before), truncated, message.subarray(reader.pos)]);
  }
  return message;
}

/** Returns the last character boundary up to `end`. */
function endOfCharacter(text: Uint8Array, end: number): number {
  let at = end;
  while (at > 0 && ((text[at] ?? 0) & 0xc0) === 0x80) at--;
  return at;
}
