import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/** Values of a message by the numbers of their fields. */
export type Parts = ReadonlyMap<number, readonly (number | Uint8Array)[]>;

/** Reads a message whose fields are texts, bytes and small numbers. */
export function partsOf(bytes: Uint8Array): Parts {
  const parts = new Map<number, (number | Uint8Array)[]>();
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const value = wireType === WireType.Varint ? reader.int32() : wireType === WireType.LengthDelimited ? reader.bytes() : undefined;
    if (value === undefined) reader.skip(wireType, number);
    else if (parts.get(number)?.push(value) === undefined) parts.set(number, [value]);
  }
  return parts;
}

/** Returns the bytes of a repeated field. */
export const all = (parts: Parts, number: number): Uint8Array[] => (parts.get(number) ?? []).filter((part) => part instanceof Uint8Array);

const EMPTY = new Uint8Array();
/** Returns the bytes of a field, empty when it is absent. */
export const first = (parts: Parts, number: number): Uint8Array => all(parts, number)[0] ?? EMPTY;

/** Returns a field as text. */
export const textOf = (parts: Parts, number: number): string => Buffer.from(first(parts, number)).toString();

/** Returns a field as a number. */
export function numberOf(parts: Parts, number: number): number | undefined {
  const value = parts.get(number)?.[0];
  return typeof value === "number" ? value : undefined;
}
