import { ScalarType } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";
import type { ProtoReader } from "./input.js";
import type { ProtoWriter } from "./scratch.js";

export type WriteValue = (value: unknown) => void;
export type ReadValue = (reader: ProtoReader) => unknown;

/** Wire types of the scalars that have a writer or a reader. */
export const wireTypes: Readonly<Partial<Record<ScalarType, WireType>>> = {
  [ScalarType.STRING]: WireType.LengthDelimited,
  [ScalarType.BYTES]: WireType.LengthDelimited,
  [ScalarType.BOOL]: WireType.Varint,
  [ScalarType.INT32]: WireType.Varint,
  [ScalarType.UINT32]: WireType.Varint,
  [ScalarType.INT64]: WireType.Varint,
  [ScalarType.UINT64]: WireType.Varint,
  [ScalarType.DOUBLE]: WireType.Bit64,
};

/**
 * Writers of the scalars in frequent messages. They throw when a value is not of the library's
 * type.
 */
export function scalarWriters(writer: ProtoWriter): Readonly<Partial<Record<ScalarType, WriteValue>>> {
  return {
    [ScalarType.STRING]: (value) => {
      if (typeof value !== "string") throw new TypeError("must be a string");
      writer.text(value);
    },
    [ScalarType.BYTES]: (value) => {
      if (!(value instanceof Uint8Array)) throw new TypeError("must be bytes");
      writer.varint(value.length);
      writer.raw(value);
    },
    [ScalarType.BOOL]: (value) => {
      if (typeof value !== "boolean") throw new TypeError("must be a boolean");
      writer.varint(value ? 1 : 0);
    },
    [ScalarType.INT32]: (value) => {
      if (typeof value !== "number" || (value | 0) !== value) throw new RangeError("must be an integer of 32 bits");
      if (value < 0) writer.varint64(BigInt(value));
      else writer.varint(value);
    },
    [ScalarType.UINT32]: (value) => {
      if (typeof value !== "number" || value >>> 0 !== value) throw new RangeError("must be an integer of 32 bits");
      writer.varint(value);
    },
    [ScalarType.INT64]: (value) => {
      if (typeof value !== "bigint" || BigInt.asIntN(64, value) !== value) throw new RangeError("must be an integer of 64 bits");
      writer.varint64(value);
    },
    [ScalarType.UINT64]: (value) => {
      if (typeof value !== "bigint" || BigInt.asUintN(64, value) !== value) throw new RangeError("must be an integer of 64 bits");
      writer.varint64(value);
    },
  };
}

/** Readers of the scalars in frequent messages; they throw for unusual encodings. */
export const scalarReaders: Readonly<Partial<Record<ScalarType, ReadValue>>> = {
  [ScalarType.STRING]: (reader) => reader.text(),
  [ScalarType.BYTES]: (reader) => reader.raw(),
  [ScalarType.BOOL]: (reader) => reader.varint() !== 0,
  [ScalarType.INT32]: (reader) => reader.int32(),
  [ScalarType.UINT32]: (reader) => reader.varint(),
  [ScalarType.INT64]: (reader) => BigInt.asIntN(64, reader.varint64()),
  [ScalarType.UINT64]: (reader) => reader.varint64(),
  [ScalarType.DOUBLE]: (reader) => reader.double(),
};

/** True when a field without presence omits this value. */
export function isZero(value: unknown): boolean {
  if (value instanceof Uint8Array) return value.length === 0;
  return value === "" || value === 0 || value === false || value === 0n;
}
