/** A msgpack value is malformed or truncated. */
export class MsgpackError extends Error {
  override readonly name = "MsgpackError";
}

/**
 * The head of one msgpack value, read without its content. It distinguishes integers from floats,
 * which decoders to plain JavaScript numbers do not. `next` is the offset of the first byte after
 * the head, which for the scalar kinds is after the whole value. `size` counts the bytes before
 * `next` that are the content.
 */
export type MsgpackHead =
  | { readonly kind: "nil"; readonly next: number }
  | { readonly kind: "boolean"; readonly value: boolean; readonly next: number }
  | { readonly kind: "integer"; readonly value: bigint; readonly next: number }
  | { readonly kind: "float"; readonly value: number; readonly next: number }
  | { readonly kind: "string"; readonly value: string; readonly next: number }
  | { readonly kind: "binary" | "extension"; readonly size: number; readonly next: number }
  | { readonly kind: "array" | "map"; readonly count: number; readonly next: number };

const utf8 = new TextDecoder();

/**
 * Reads the head at an offset. Throws MsgpackError for truncated bytes and for the one code that
 * msgpack does not use.
 */
export function readHead(bytes: Uint8Array, offset: number): MsgpackHead {
  const view = new Cursor(bytes, offset);
  const code = view.uint(1);
  if (code <= 0x7f) return { kind: "integer", value: BigInt(code), next: view.at };
  if (code <= 0x8f) return { kind: "map", count: code & 0x0f, next: view.at };
  if (code <= 0x9f) return { kind: "array", count: code & 0x0f, next: view.at };
  if (code <= 0xbf) return view.string(code & 0x1f);
  if (code >= 0xe0) return { kind: "integer", value: BigInt(code - 0x100), next: view.at };
  switch (code) {
    case 0xc0:
      return { kind: "nil", next: view.at };
    case 0xc2:
    case 0xc3:
      return { kind: "boolean", value: code === 0xc3, next: view.at };
    case 0xc4:
    case 0xc5:
    case 0xc6:
      return view.payload("binary", view.uint(1 << (code - 0xc4)));
    case 0xc7:
    case 0xc8:
    case 0xc9:
      return view.payload("extension", view.uint(1 << (code - 0xc7)) + 1);
    case 0xca:
      return { kind: "float", value: view.float32(), next: view.at };
    case 0xcb:
      return { kind: "float", value: view.float64(), next: view.at };
    case 0xcc:
    case 0xcd:
    case 0xce:
      return { kind: "integer", value: BigInt(view.uint(1 << (code - 0xcc))), next: view.at };
    case 0xcf:
      return { kind: "integer", value: view.bigint(false), next: view.at };
    case 0xd0:
    case 0xd1:
    case 0xd2: {
      const size = 1 << (code - 0xd0);
      return { kind: "integer", value: BigInt.asIntN(size * 8, BigInt(view.uint(size))), next: view.at };
    }
    case 0xd3:
      return { kind: "integer", value: view.bigint(true), next: view.at };
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8:
      return view.payload("extension", (1 << (code - 0xd4)) + 1);
    case 0xd9:
    case 0xda:
    case 0xdb:
      return view.string(view.uint(1 << (code - 0xd9)));
    case 0xdc:
    case 0xdd:
      return { kind: "array", count: view.uint(2 << (code - 0xdc)), next: view.at };
    case 0xde:
    case 0xdf:
      return { kind: "map", count: view.uint(2 << (code - 0xde)), next: view.at };
    default:
      throw new MsgpackError(`byte 0x${code.toString(16)} at ${offset} does not start a msgpack value`);
  }
}

/** Returns the offset after the value at this offset, however deep it is. */
export function skipValue(bytes: Uint8Array, offset: number): number {
  let at = offset;
  for (let pending = 1; pending > 0; pending--) {
    const head = readHead(bytes, at);
    at = head.next;
    if (head.kind === "array") pending += head.count;
    else if (head.kind === "map") pending += 2 * head.count;
  }
  return at;
}

class Cursor {
  private readonly view: DataView;

  constructor(
    private readonly bytes: Uint8Array,
    public at: number,
  ) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Skips bytes; returns the new offset. */
  skip(size: number): number {
    if (this.at + size > this.bytes.length) {
      throw new MsgpackError(`the msgpack value ends at ${this.bytes.length}, inside of ${size} bytes at ${this.at}`);
    }
    this.at += size;
    return this.at;
  }

  uint(size: number): number {
    const start = this.skip(size) - size;
    return size === 1 ? this.view.getUint8(start) : size === 2 ? this.view.getUint16(start) : this.view.getUint32(start);
  }

  bigint(signed: boolean): bigint {
    const start = this.skip(8) - 8;
    return signed ? this.view.getBigInt64(start) : this.view.getBigUint64(start);
  }

  float32(): number {
    return this.view.getFloat32(this.skip(4) - 4);
  }

  float64(): number {
    return this.view.getFloat64(this.skip(8) - 8);
  }

  payload(kind: "binary" | "extension", size: number): MsgpackHead {
    return { kind, size, next: this.skip(size) };
  }

  string(size: number): MsgpackHead {
    const end = this.skip(size);
    return { kind: "string", value: utf8.decode(this.bytes.subarray(end - size, end)), next: end };
  }
}
