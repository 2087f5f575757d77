/** Growing buffer of varints and bytes. */
export class ByteSink {
  #bytes: Buffer;
  #length = 0;

  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafe(Math.max(capacity, MAX_VARINT_BYTES));
  }

  /** Writes the varint of a zigzag-encoded integer below 2^52. */
  varint(value: number): void {
    this.#reserve(MAX_VARINT_BYTES);
    let rest = value < 0 ? -2 * value - 1 : 2 * value;
    for (; rest >= 2 ** 31; rest = Math.floor(rest / 128)) this.#bytes[this.#length++] = (rest % 128) + 128;
    for (; rest >= 128; rest >>>= 7) this.#bytes[this.#length++] = (rest & 127) | 128;
    this.#bytes[this.#length++] = rest;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  bytes(source: Uint8Array, from: number, to: number): void {
    this.#reserve(to - from);
    this.#bytes.set(source.subarray(from, to), this.#length);
    this.#length += to - from;
  }

  /** Bytes written so far; valid until the next write. */
  written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#length + bytes));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

/** Bytes of a varint of 52 bits. */
const MAX_VARINT_BYTES = 8;
