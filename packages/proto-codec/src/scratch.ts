const INITIAL_BYTES = 64 * 1024;
/** Maximum size kept after a larger message, bytes. */
const KEPT_BYTES = 1024 * 1024;
/** Maximum size of a length, for which one byte is reserved. */
const LENGTH_BYTES = 5;
const VARINT_BYTES = 10;

/** Reusable memory in which messages are encoded one after the other; each is copied out of it. */
export class ProtoWriter {
  #bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  #at = 0;

  /**
   * Returns the bytes written since the last call. Small messages share their memory with others.
   */
  take(): Uint8Array {
    const taken = Buffer.allocUnsafe(this.#at);
    this.#bytes.copy(taken, 0, 0, this.#at);
    this.clear();
    return taken;
  }

  /** Discards the bytes written. */
  clear(): void {
    this.#at = 0;
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  }

  /** An integer from 0 to 2^32 - 1. */
  varint(value: number): void {
    this.#reserve(VARINT_BYTES);
    this.#varint(value);
  }

  /** A 64-bit integer; negative ones in two's complement. */
  varint64(value: bigint): void {
    this.#reserve(VARINT_BYTES);
    let rest = BigInt.asUintN(64, value);
    for (; rest > 0x7fff_ffffn; rest >>= 7n) this.#bytes[this.#at++] = Number(rest & 0x7fn) | 0x80;
    this.#varint(Number(rest));
  }

  /** Bytes without a length. */
  raw(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#bytes.set(value, this.#at);
    this.#at += value.length;
  }

  /** Length-prefixed text. */
  text(value: string): void {
    const { length } = value;
    if (length < 0x80) {
      this.#reserve(1 + length);
      if (this.#ascii(value)) return;
    }
    const bytes = Buffer.byteLength(value);
    this.#reserve(LENGTH_BYTES + bytes);
    this.#varint(bytes);
    this.#at += this.#bytes.write(value, this.#at, bytes);
  }

  /** Begins a length-prefixed part; pass the result to `end` to end it. */
  begin(): number {
    this.#reserve(1);
    return this.#at++;
  }

  end(begun: number): void {
    const length = this.#at - begun - 1;
    if (length < 0x80) {
      this.#bytes[begun] = length;
      return;
    }
    this.#reserve(LENGTH_BYTES);
    const more = varintBytes(length) - 1;
    this.#bytes.copyWithin(begun + 1 + more, begun + 1, this.#at);
    this.#at = begun;
    this.#varint(length);
    this.#at += length;
  }

  #varint(value: number): void {
    let rest = value;
    for (; rest > 0x7f; rest >>>= 7) this.#bytes[this.#at++] = (rest & 0x7f) | 0x80;
    this.#bytes[this.#at++] = rest;
  }

  /** Writes a short ASCII text; returns false, and writes nothing, for other texts. */
  #ascii(value: string): boolean {
    const { length } = value;
    const from = this.#at + 1;
    for (let index = 0; index < length; index++) {
      const code = value.charCodeAt(index);
      if (code > 0x7f) return false;
      this.#bytes[from + index] = code;
    }
    this.#bytes[this.#at] = length;
    this.#at = from + length;
    return true;
  }

  #reserve(more: number): void {
    const needed = this.#at + more;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}

function varintBytes(value: number): number {
  return value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x20_0000 ? 3 : value < 0x1000_0000 ? 4 : LENGTH_BYTES;
}
