import { BinaryReader } from "@bufbuild/protobuf/wire";

/** Removes a field from an encoded message; returns the same bytes when it lacks the field. */
export function withoutField(message: Uint8Array, field: number): Uint8Array {
  const reader = new BinaryReader(message);
  const kept: Uint8Array[] = [];
  let from = 0;
  while (reader.pos < reader.len) {
    const before = reader.pos;
    const [number, wireType] = reader.tag();
    reader.skip(wireType, number);
    if (number !== field) continue;
    kept.push(message.subarray(from, before));
    from = reader.pos;
  }
  return from === 0 ? message : Buffer.concat([...kept, message.subarray(from)]);
}
