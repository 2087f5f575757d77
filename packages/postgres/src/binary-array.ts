// Arrays in PostgreSQL's binary wire format. node-postgres writes arrays as text, with several
// strings per element and bytes as hexadecimal digits; it sends a Buffer as it is, in binary. The
// statement must cast the parameter to the array type ($1::text[]): the server accepts no other. An
// absent element is NULL.

/** An element that may be absent. */
type Maybe<T> = T | null | undefined;

/** OIDs in pg_type, which the array names. */
const OID = { boolean: 16, bytea: 17, bigint: 20, integer: 23, text: 25 } as const;
/**
 * Number of dimensions, flag for NULLs, element type, size of the one dimension, its first index.
 */
const HEADER_BYTES = 20;
/** Length before each element; NULL has nothing else. */
const LENGTH_BYTES = 4;
const NULL_LENGTH = -1;
/** ASCII texts up to this length are written here: calling the runtime takes longer for them. */
const SHORT = 16;
const LAST_ASCII = 0x7f;

/** A number out of its column's range, rejected before it is sent, with the server's code. */
class OutOfRange extends RangeError {
  override readonly name = "OutOfRange";
  /** SQLSTATE. */
  readonly code = "22003";
}

/**
 * A `text[]`. Halves of surrogate pairs become U+FFFD; the server refuses NUL characters
 * (`isInvalidText`).
 */
export function textArray(values: readonly Maybe<string>[]): Buffer {
  let bytes = 0;
  for (const value of values) if (!isAbsent(value)) bytes += textBytes(value);
  const { array, view } = begin(OID.text, values, bytes);
  let at = HEADER_BYTES;
  for (const value of values) {
    const length = isAbsent(value) ? NULL_LENGTH : writeText(array, value, at + LENGTH_BYTES);
    view.setInt32(at, length);
    at += LENGTH_BYTES + Math.max(length, 0);
  }
  return array;
}

/** A `bytea[]`. */
export function byteaArray(values: readonly Maybe<Uint8Array>[]): Buffer {
  let bytes = 0;
  for (const value of values) if (!isAbsent(value)) bytes += value.length;
  const { array, view } = begin(OID.bytea, values, bytes);
  let at = HEADER_BYTES;
  for (const value of values) {
    view.setInt32(at, isAbsent(value) ? NULL_LENGTH : value.length);
    at += LENGTH_BYTES;
    if (isAbsent(value)) continue;
    array.set(value, at);
    at += value.length;
  }
  return array;
}

/**
 * A `bigint[]`.
 *
 * @throws RangeError with the `code` 22003 for a value that is no 64-bit integer, or an inexact
 *   number.
 */
export function bigintArray(values: readonly Maybe<bigint | number>[]): Buffer {
  return fixedArray(BIGINT, values);
}

/**
 * An `integer[]`.
 *
 * @throws RangeError with the `code` 22003 for a value that is no 32-bit integer.
 */
export function integerArray(values: readonly Maybe<number>[]): Buffer {
  return fixedArray(INTEGER, values);
}

/** A `boolean[]`. */
export function booleanArray(values: readonly Maybe<boolean>[]): Buffer {
  return fixedArray(BOOLEAN, values);
}

/** A type with values of one length. */
interface Fixed<T> {
  readonly oid: number;
  readonly bytes: number;
  readonly write: (view: DataView, at: number, value: T) => void;
}

const BIGINT: Fixed<bigint | number> = {
  oid: OID.bigint,
  bytes: 8,
  write: (view, at, value) => {
    const exact = typeof value === "bigint" ? value : Number.isSafeInteger(value) ? BigInt(value) : undefined;
    if (exact === undefined || BigInt.asIntN(64, exact) !== exact) throw new OutOfRange(`${value} is out of range for type bigint`);
    view.setBigInt64(at, exact);
  },
};

const INTEGER: Fixed<number> = {
  oid: OID.integer,
  bytes: 4,
  write: (view, at, value) => {
    if ((value | 0) !== value) throw new OutOfRange(`${value} is out of range for type integer`);
    view.setInt32(at, value);
  },
};

const BOOLEAN: Fixed<boolean> = { oid: OID.boolean, bytes: 1, write: (view, at, value) => view.setUint8(at, value ? 1 : 0) };

function fixedArray<T>({ oid, bytes, write }: Fixed<T>, values: readonly Maybe<T>[]): Buffer {
  let present = 0;
  for (const value of values) if (!isAbsent(value)) present++;
  const { array, view } = begin(oid, values, present * bytes);
  let at = HEADER_BYTES;
  for (const value of values) {
    view.setInt32(at, isAbsent(value) ? NULL_LENGTH : bytes);
    at += LENGTH_BYTES;
    if (isAbsent(value)) continue;
    write(view, at, value);
    at += bytes;
  }
  return array;
}

/** Allocates an array with its header and `bytes` bytes for all elements. */
function begin(oid: number, values: readonly unknown[], bytes: number): { readonly array: Buffer; readonly view: DataView } {
  const array = Buffer.allocUnsafe(HEADER_BYTES + values.length * LENGTH_BYTES + bytes);
  const view = new DataView(array.buffer, array.byteOffset, array.length);
  view.setInt32(0, 1);
  // The server examines the elements itself and takes this flag as a hint.
  view.setInt32(4, 1);
  view.setInt32(8, oid);
  view.setInt32(12, values.length);
  view.setInt32(16, 1);
  return { array, view };
}

function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

function textBytes(text: string): number {
  if (text.length > SHORT) return Buffer.byteLength(text);
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > LAST_ASCII) return Buffer.byteLength(text);
  return text.length;
}

/** Returns the number of bytes written. */
function writeText(array: Buffer, text: string, at: number): number {
  if (text.length > SHORT) return array.write(text, at);
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit > LAST_ASCII) return array.write(text, at);
    array[at + index] = unit;
  }
  return text.length;
}
