import { ScalarType } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";
import type { Input } from "./input.js";
import type { Scratch } from "./scratch.js";

export type WriteValue = (value: unknown) => void;
export type ReadValue = (input: Input) => unknown;

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

/** Writers of the scalars in frequent messages. They throw when a value is not of the library's type. */
export function scalarWriters(scratch: Scratch): Readonly<Partial<Record<ScalarType, WriteValue>>> {
  return {
    [ScalarType.STRING]: (value) => {
      if (typeof value !== "string") throw new TypeError("must be a string");
      scratch.text(value);
    },
    [ScalarType.BYTES]: (value) => {
      if (!(value instanceof Uint8Array)) throw new TypeError("must be bytes");
      scratch.varint(value.length);
      scratch.raw(value);
    },
    [ScalarType.BOOL]: (value) => {
      if (typeof value !== "boolean") throw new TypeError("must be a boolean");
      scratch.varint(value ? 1 : 0);
    },
    [ScalarType.INT32]: (value) => {
      if (typeof value !== "number" || (value | 0) !== value) throw new RangeError("must be an integer of 32 bits");
      if (value < 0) scratch.varint64(BigInt(value));
      else scratch.varint(value);
    },
    [ScalarType.UINT32]: (value) => {
      if (typeof value !== "number" || value >>> 0 !== value) throw new RangeError("must be an integer of 32 bits");
      scratch.varint(value);
    },
    [ScalarType.INT64]: (value) => {
      if (typeof value !== "bigint" || BigInt.asIntN(64, value) !== value) throw new RangeError("must be an integer of 64 bits");
      scratch.varint64(value);
    },
    [ScalarType.UINT64]: (value) => {
      if (typeof value !== "bigint" || BigInt.asUintN(64, value) !== value) throw new RangeError("must be an integer of 64 bits");
      scratch.varint64(value);
    },
  };
}

/** Readers of the scalars in frequent messages; they throw for unusual encodings. */
export const scalarReaders: Readonly<Partial<Record<ScalarType, ReadValue>>> = {
  [ScalarType.STRING]: (input) => input.text(),
  [ScalarType.BYTES]: (input) => input.raw(),
  [ScalarType.BOOL]: (input) => input.varint() !== 0,
  [ScalarType.INT32]: (input) => input.int32(),
  [ScalarType.UINT32]: (input) => input.varint(),
  [ScalarType.INT64]: (input) => BigInt.asIntN(64, input.varint64()),
  [ScalarType.UINT64]: (input) => input.varint64(),
  [ScalarType.DOUBLE]: (input) => input.double(),
};

/** True when a field without presence omits this value. */
export function isZero(value: unknown): boolean {
  if (value instanceof Uint8Array) return value.length === 0;
  return value === "" || value === 0 || value === false || value === 0n;
}
