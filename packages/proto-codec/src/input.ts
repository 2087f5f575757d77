/** The input is malformed, or of a kind that this decoder does not support. */
export class UnsupportedEncodingError extends Error {
  override readonly name = "UnsupportedEncodingError";
}

/** Maximum nesting of messages, the same as the library's. */
const DEEPEST = 100;
const CONTINUES = 0x80;

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads the values of a message in sequence. Throws on truncated or unexpected bytes. */
export class ProtoReader {
  readonly #bytes: Uint8Array;
  /** The same bytes as a Buffer, for its methods. */
  readonly #buffer: Buffer;
  #at = 0;
  #end: number;
  #depth = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#end = bytes.byteLength;
  }

  /** True before the end of the message, or of the nested message being read. */
  get hasMore(): boolean {
    return this.#at < this.#end;
  }

  /** An integer from 0 to 2^32 - 1. */
  varint(): number {
    const first = this.#byte();
    if (first < CONTINUES) return first;
    let value = first & 0x7f;
    for (let shift = 7; shift < 28; shift += 7) {
      const byte = this.#byte();
      value |= (byte & 0x7f) << shift;
      if (byte < CONTINUES) return value;
    }
    const last = this.#byte();
    if (last > 0x0f) throw new UnsupportedEncodingError("an integer of more than 32 bits");
    return (value | (last << 28)) >>> 0;
  }

  /** A 32-bit integer; negative ones are encoded in 64 bits. */
  int32(): number {
    const first = this.#bytes[this.#at] as number;
    if (this.hasMore && first < CONTINUES) {
      this.#at++;
      return first;
    }
    return Number(BigInt.asIntN(32, this.varint64()));
  }

  /** A 64-bit unsigned integer. */
  varint64(): bigint {
    let value = 0;
    // Numbers up to this size are exact.
    for (let factor = 1; factor < 2 ** 49; factor *= 0x80) {
      const byte = this.#byte();
      value += (byte & 0x7f) * factor;
      if (byte < CONTINUES) return BigInt(value);
    }
    let whole = BigInt(value);
    for (let shift = 49n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      whole |= BigInt(byte & 0x7f) << shift;
      if (byte < CONTINUES) return BigInt.asUintN(64, whole);
    }
    throw new UnsupportedEncodingError("an integer of more than 64 bits");
  }

  double(): number {
    const from = this.#pass(8);
    return this.#buffer.readDoubleLE(from);
  }

  /** Reads a length-prefixed text. */
  text(): string {
    const length = this.varint();
    const from = this.#pass(length);
    for (let at = from; at < this.#at; at++) {
      if ((this.#bytes[at] as number) >= 0x80) return strict.decode(this.#bytes.subarray(from, this.#at));
    }
    return this.#buffer.toString("latin1", from, this.#at);
  }

  /** Reads length-prefixed bytes, as a view of the message. */
  raw(): Uint8Array {
    const length = this.varint();
    const from = this.#pass(length);
    return this.#bytes.subarray(from, this.#at);
  }

  /** Begins a length-prefixed message; pass the result to `leave` to end it. */
  enter(): number {
    if (++this.#depth >= DEEPEST) throw new UnsupportedEncodingError("messages nested too deeply");
    const length = this.varint();
    const outer = this.#end;
    const from = this.#pass(length);
    this.#end = this.#at;
    this.#at = from;
    return outer;
  }

  leave(outer: number): void {
    this.#depth--;
    this.#end = outer;
  }

  #byte(): number {
    if (this.#at >= this.#end) throw new UnsupportedEncodingError("ends too early");
    return this.#bytes[this.#at++] as number;
  }

  /** Skips bytes; returns their offset. */
  #pass(length: number): number {
    const from = this.#at;
    if (length > this.#end - from) throw new UnsupportedEncodingError("ends too early");
    this.#at = from + length;
    return from;
  }
}
