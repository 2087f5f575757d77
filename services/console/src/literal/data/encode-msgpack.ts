import { type Data, isDataList } from "./data.js";

const U8 = 0xff;
const U16 = 0xffff;
const U32 = 0xffff_ffff;
/** Greatest and least integers of msgpack. */
const MAX_U64 = 2n ** 64n - 1n;
const MIN_I64 = -(2n ** 63n);

/**
 * Encodes data as msgpack: integers in their shortest form, floats with 64 bits.
 *
 * @throws RangeError for an integer of more than 64 bits.
 */
export function encodeMsgpack(data: Data): Uint8Array {
  const out: number[] = [];
  write(out, data);
  return Uint8Array.from(out);
}

function write(out: number[], data: Data): void {
  if (data === null) out.push(0xc0);
  else if (typeof data === "boolean") out.push(data ? 0xc3 : 0xc2);
  else if (typeof data === "bigint") writeInteger(out, data);
  else if (typeof data === "number") writeNumber(out, 0xcb, 8, (view) => view.setFloat64(0, data));
  else if (typeof data === "string") writeText(out, data);
  else if (isDataList(data)) {
    writeLength(out, data.length, { fixed: 0x90, fixedMax: 15, wide: [0xdc, 0xdd] });
    for (const each of data) write(out, each);
  } else {
    const entries = Object.entries(data);
    writeLength(out, entries.length, { fixed: 0x80, fixedMax: 15, wide: [0xde, 0xdf] });
    for (const [name, value] of entries) {
      writeText(out, name);
      write(out, value);
    }
  }
}

function writeInteger(out: number[], value: bigint): void {
  if (value > MAX_U64 || value < MIN_I64) throw new RangeError("an integer has more than 64 bits");
  const small = Number(value);
  if (value >= 0n) {
    if (small <= 0x7f) out.push(small);
    else if (small <= U8) out.push(0xcc, small);
    else if (small <= U16) writeNumber(out, 0xcd, 2, (view) => view.setUint16(0, small));
    else if (small <= U32) writeNumber(out, 0xce, 4, (view) => view.setUint32(0, small));
    else writeNumber(out, 0xcf, 8, (view) => view.setBigUint64(0, value));
  } else if (small >= -0x20) out.push(small & U8);
  else if (small >= -0x80) out.push(0xd0, small & U8);
  else if (small >= -0x8000) writeNumber(out, 0xd1, 2, (view) => view.setInt16(0, small));
  else if (small >= -0x8000_0000) writeNumber(out, 0xd2, 4, (view) => view.setInt32(0, small));
  else writeNumber(out, 0xd3, 8, (view) => view.setBigInt64(0, value));
}

function writeText(out: number[], text: string): void {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length > 31 && bytes.length <= U8) out.push(0xd9, bytes.length);
  else writeLength(out, bytes.length, { fixed: 0xa0, fixedMax: 31, wide: [0xda, 0xdb] });
  for (const byte of bytes) out.push(byte);
}

interface LengthForms {
  readonly fixed: number;
  readonly fixedMax: number;
  /** Markers of lengths with 16 and 32 bits. */
  readonly wide: readonly [number, number];
}

function writeLength(out: number[], length: number, { fixed, fixedMax, wide: [middle, long] }: LengthForms): void {
  if (length <= fixedMax) out.push(fixed | length);
  else if (length <= U16) writeNumber(out, middle, 2, (view) => view.setUint16(0, length));
  else writeNumber(out, long, 4, (view) => view.setUint32(0, length));
}

function writeNumber(out: number[], marker: number, size: number, set: (view: DataView) => void): void {
  const bytes = new Uint8Array(size);
  set(new DataView(bytes.buffer));
  out.push(marker, ...bytes);
}
