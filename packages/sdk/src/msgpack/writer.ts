import type { PlainValue } from "./plain.js";

const MAX_UINT32 = 0xffff_ffff;
const utf8 = new TextEncoder();

/** Encodes a value: numbers as float64, bigints as the shortest integer. */
export function writeMsgpack(value: PlainValue): Uint8Array {
  const writer = new Writer();
  writer.value(value);
  return writer.bytes();
}

class Writer {
  private buffer = new Uint8Array(256);
  private view = new DataView(this.buffer.buffer);
  private length = 0;

  bytes(): Uint8Array {
    return this.buffer.slice(0, this.length);
  }

  value(value: PlainValue): void {
    if (value === null) this.byte(0xc0);
    else if (typeof value === "boolean") this.byte(value ? 0xc3 : 0xc2);
    else if (typeof value === "number") this.float(value);
    else if (typeof value === "bigint") this.integer(value);
    else if (typeof value === "string") this.string(value);
    else if (value instanceof Uint8Array) this.binary(value);
    else if (Array.isArray(value)) this.array(value);
    else this.map(value as Readonly<Record<string, PlainValue>>);
  }

  private float(value: number): void {
    this.byte(0xcb);
    const at = this.grow(8);
    this.view.setFloat64(at, value);
  }

  private integer(value: bigint): void {
    if (value >= 0n && value < 128n) this.byte(Number(value));
    else if (value < 0n && value >= -32n) this.byte(0x100 + Number(value));
    else if (value >= 0n) this.unsigned(value);
    else this.signed(value);
  }

  private unsigned(value: bigint): void {
    if (value < 1n << 8n) this.sized(0xcc, 1, Number(value));
    else if (value < 1n << 16n) this.sized(0xcd, 2, Number(value));
    else if (value < 1n << 32n) this.sized(0xce, 4, Number(value));
    else {
      this.byte(0xcf);
      const at = this.grow(8);
      this.view.setBigUint64(at, value);
    }
  }

  private signed(value: bigint): void {
    if (value >= -(1n << 7n)) this.sized(0xd0, 1, Number(BigInt.asUintN(8, value)));
    else if (value >= -(1n << 15n)) this.sized(0xd1, 2, Number(BigInt.asUintN(16, value)));
    else if (value >= -(1n << 31n)) this.sized(0xd2, 4, Number(BigInt.asUintN(32, value)));
    else {
      this.byte(0xd3);
      const at = this.grow(8);
      this.view.setBigInt64(at, value);
    }
  }

  private string(value: string): void {
    const bytes = utf8.encode(value);
    if (bytes.length < 32) this.byte(0xa0 | bytes.length);
    else if (bytes.length < 1 << 8) this.sized(0xd9, 1, bytes.length);
    else if (bytes.length < 1 << 16) this.sized(0xda, 2, bytes.length);
    else this.sized(0xdb, 4, bytes.length);
    this.raw(bytes);
  }

  private binary(value: Uint8Array): void {
    if (value.length < 1 << 8) this.sized(0xc4, 1, value.length);
    else if (value.length < 1 << 16) this.sized(0xc5, 2, value.length);
    else this.sized(0xc6, 4, value.length);
    this.raw(value);
  }

  private array(items: readonly PlainValue[]): void {
    if (items.length < 16) this.byte(0x90 | items.length);
    else if (items.length < 1 << 16) this.sized(0xdc, 2, items.length);
    else this.sized(0xdd, 4, items.length);
    for (const item of items) this.value(item);
  }

  private map(object: Readonly<Record<string, PlainValue>>): void {
    const entries = Object.entries(object);
    if (entries.length < 16) this.byte(0x80 | entries.length);
    else if (entries.length < 1 << 16) this.sized(0xde, 2, entries.length);
    else this.sized(0xdf, 4, entries.length);
    for (const [key, item] of entries) {
      this.string(key);
      this.value(item);
    }
  }

  private byte(value: number): void {
    const at = this.grow(1);
    this.view.setUint8(at, value);
  }

  /** Writes a code and an unsigned number of 1, 2 or 4 bytes. */
  private sized(code: number, size: 1 | 2 | 4, value: number): void {
    if (value > MAX_UINT32) throw new RangeError(`msgpack cannot carry a value of ${value} bytes`);
    this.byte(code);
    const at = this.grow(size);
    if (size === 1) this.view.setUint8(at, value);
    else if (size === 2) this.view.setUint16(at, value);
    else this.view.setUint32(at, value);
  }

  private raw(bytes: Uint8Array): void {
    const at = this.grow(bytes.length);
    this.buffer.set(bytes, at);
  }

  /** Reserves bytes; returns their offset. Replaces the buffer when it is full. */
  private grow(size: number): number {
    const at = this.length;
    this.length += size;
    if (this.length > this.buffer.length) {
      const larger = new Uint8Array(Math.max(this.length, this.buffer.length * 2));
      larger.set(this.buffer);
      this.buffer = larger;
      this.view = new DataView(larger.buffer);
    }
    return at;
  }
}
