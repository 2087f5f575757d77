import { floatText, timestampText } from "./go-text.js";

/**
 * Formats a MessagePack value as Go's `%v`, the form of structured inputs in templates:
 * `map[a:1 b:[x y]]`, keys sorted.
 * @throws RangeError when the bytes are truncated, nest too deep or continue after the value.
 */
export function msgpackText(bytes: Uint8Array): string {
  const reader = new Reader(bytes);
  const text = reader.text(0);
  reader.end();
  return text;
}

const MAX_DEPTH = 128;
const decoder = new TextDecoder();

class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  end(): void {
    if (this.#at !== this.#bytes.length) throw new RangeError(`MessagePack value ends at byte ${this.#at} of ${this.#bytes.length}`);
  }

  text(depth: number): string {
    if (depth > MAX_DEPTH) throw new RangeError("MessagePack value nests too deep");
    const tag = this.#unsigned(1);
    if (tag <= 0x7f) return String(tag);
    if (tag <= 0x8f) return this.#map(tag & 0x0f, depth);
    if (tag <= 0x9f) return this.#array(tag & 0x0f, depth);
    if (tag <= 0xbf) return this.#string(tag & 0x1f);
    if (tag >= 0xe0) return String(tag - 0x100);
    switch (tag) {
      case 0xc0:
        return "<nil>";
      case 0xc2:
        return "false";
      case 0xc3:
        return "true";
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return `[${this.#take(this.#unsigned(1 << (tag - 0xc4))).join(" ")}]`;
      case 0xc7:
      case 0xc8:
      case 0xc9:
        return this.#extension(this.#unsigned(1 << (tag - 0xc7)));
      case 0xca:
        return floatText(this.#view.getFloat32(this.#skip(4)), 32);
      case 0xcb:
        return floatText(this.#view.getFloat64(this.#skip(8)), 64);
      case 0xcc:
      case 0xcd:
      case 0xce:
        return String(this.#unsigned(1 << (tag - 0xcc)));
      case 0xcf:
        return String(this.#view.getBigUint64(this.#skip(8)));
      case 0xd0:
        return String(this.#view.getInt8(this.#skip(1)));
      case 0xd1:
        return String(this.#view.getInt16(this.#skip(2)));
      case 0xd2:
        return String(this.#view.getInt32(this.#skip(4)));
      case 0xd3:
        return String(this.#view.getBigInt64(this.#skip(8)));
      case 0xd4:
      case 0xd5:
      case 0xd6:
      case 0xd7:
      case 0xd8:
        return this.#extension(1 << (tag - 0xd4));
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#string(this.#unsigned(1 << (tag - 0xd9)));
      case 0xdc:
      case 0xdd:
        return this.#array(this.#unsigned(tag === 0xdc ? 2 : 4), depth);
      case 0xde:
      case 0xdf:
        return this.#map(this.#unsigned(tag === 0xde ? 2 : 4), depth);
      default:
        throw new RangeError(`MessagePack has no type 0x${tag.toString(16)}`);
    }
  }

  #array(length: number, depth: number): string {
    const items: string[] = [];
    for (let i = 0; i < length; i++) items.push(this.text(depth + 1));
    return `[${items.join(" ")}]`;
  }

  #map(length: number, depth: number): string {
    const entries: (readonly [key: string, value: string])[] = [];
    for (let i = 0; i < length; i++) entries.push([this.text(depth + 1), this.text(depth + 1)]);
    entries.sort(([a], [b]) => compareKeys(a, b));
    return `map[${entries.map(([key, value]) => `${key}:${value}`).join(" ")}]`;
  }

  #string(length: number): string {
    return decoder.decode(this.#take(length));
  }

  #extension(length: number): string {
    const type = this.#view.getInt8(this.#skip(1));
    const data = this.#take(length);
    // Type -1 is a time, in one of three sizes.
    if (type !== -1) throw new RangeError(`MessagePack extension ${type} is not known`);
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    if (length === 4) return goTime(BigInt(view.getUint32(0)), 0);
    if (length === 8) {
      const packed = view.getBigUint64(0);
      return goTime(packed & 0x3_ffff_ffffn, Number(packed >> 34n));
    }
    if (length === 12) return goTime(view.getBigInt64(4), view.getUint32(0));
    throw new RangeError(`MessagePack time of ${length} bytes`);
  }

  #unsigned(size: number): number {
    const at = this.#skip(size);
    return size === 1 ? this.#view.getUint8(at) : size === 2 ? this.#view.getUint16(at) : this.#view.getUint32(at);
  }

  #take(length: number): Uint8Array {
    const at = this.#skip(length);
    return this.#bytes.subarray(at, at + length);
  }

  #skip(length: number): number {
    const at = this.#at;
    if (at + length > this.#bytes.length) throw new RangeError(`MessagePack value is truncated at byte ${this.#bytes.length}`);
    this.#at += length;
    return at;
  }
}

function compareKeys(a: string, b: string): number {
  const [x, y] = [Number(a), Number(b)];
  if (a !== "" && b !== "" && !Number.isNaN(x) && !Number.isNaN(y) && x !== y) return x - y;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Formats a time in UTC as Go does: date, time, zone offset, zone name. */
function goTime(seconds: bigint, nanos: number): string {
  return timestampText(seconds, nanos).replace("T", " ").replace("Z", " +0000 UTC");
}
