/** What is read is not in order, or of a kind that is unknown here. */
export class Unfamiliar extends Error {
  override readonly name = "Unfamiliar";
}

/** Messages inside each other, at most; as many as the library takes. */
const DEEPEST = 100;
const CONTINUES = 0x80;

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Bytes of a message, read one value after the other. What is not there, or does not fit, throws. */
export class Input {
  readonly #bytes: Uint8Array;
  /** The same, for what only a Buffer can. */
  readonly #buffer: Buffer;
  #at = 0;
  #end: number;
  #depth = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#end = bytes.byteLength;
  }

  /** Of the message, or of the message in it that is read at the moment. */
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
    if (last > 0x0f) throw new Unfamiliar("an integer of more than 32 bits");
    return (value | (last << 28)) >>> 0;
  }

  /** An integer of 32 bits; negative ones stand there with 64. */
  int32(): number {
    const first = this.#bytes[this.#at] as number;
    if (this.hasMore && first < CONTINUES) {
      this.#at++;
      return first;
    }
    return Number(BigInt.asIntN(32, this.varint64()));
  }

  /** An integer of 64 bits, without its sign. */
  varint64(): bigint {
    let value = 0;
    // So much is exact in a number.
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
    throw new Unfamiliar("an integer of more than 64 bits");
  }

  double(): number {
    const from = this.#pass(8);
    return this.#buffer.readDoubleLE(from);
  }

  /** Text behind its length in bytes. */
  text(): string {
    const length = this.varint();
    const from = this.#pass(length);
    for (let at = from; at < this.#at; at++) {
      if ((this.#bytes[at] as number) >= 0x80) return strict.decode(this.#bytes.subarray(from, this.#at));
    }
    return this.#buffer.toString("latin1", from, this.#at);
  }

  /** Bytes behind their length; they stay those of the message. */
  raw(): Uint8Array {
    const length = this.varint();
    const from = this.#pass(length);
    return this.#bytes.subarray(from, this.#at);
  }

  /** Begins a message that stands behind its length; ends with `leave` of what is returned. */
  enter(): number {
    if (++this.#depth >= DEEPEST) throw new Unfamiliar("too many messages inside each other");
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
    if (this.#at >= this.#end) throw new Unfamiliar("ends too early");
    return this.#bytes[this.#at++] as number;
  }

  /** Goes past so many bytes; returns where they begin. */
  #pass(length: number): number {
    const from = this.#at;
    if (length > this.#end - from) throw new Unfamiliar("ends too early");
    this.#at = from + length;
    return from;
  }
}
