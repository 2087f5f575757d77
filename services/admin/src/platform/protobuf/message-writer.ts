const SECOND = 1_000_000_000n;

const VARINT = 0;
const LENGTH_DELIMITED = 2;

/**
 * Writes a protobuf message from its end to its beginning: fields in reverse order, and the fields
 * of a nested message before its header. The length of a nested message is then known when it is
 * written, and nothing is copied. For responses that are mostly stored encoded; default values are
 * omitted, as in protobuf.
 */
export class MessageWriter {
  #buffer: Buffer;
  #start: number;

  /** Allocates this many bytes; the buffer grows when needed. */
  constructor(room = 1_024) {
    this.#buffer = Buffer.allocUnsafe(room);
    this.#start = room;
  }

  /** Number of written bytes: the `endOf` of a nested message that is written next. */
  get length(): number {
    return this.#buffer.length - this.#start;
  }

  /**
   * Writes the header of a nested message, whose fields were written since `length` was `endOf`. An
   * empty one is written too.
   */
  nested(field: number, endOf: number): void {
    this.#head(field, this.length - endOf);
  }

  /** Writes an encoded nested message, or encoded fields of this one when `field` is 0. */
  bytes(field: number, bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#start -= bytes.length;
    this.#buffer.set(bytes, this.#start);
    if (field > 0) this.#head(field, bytes.length);
  }

  string(field: number, text: string): void {
    if (text === "") return;
    const length = Buffer.byteLength(text);
    this.#reserve(length);
    this.#start -= length;
    this.#buffer.write(text, this.#start);
    this.#head(field, length);
  }

  /** Writes an int32, int64 or enum. */
  integer(field: number, value: number): void {
    if (value === 0) return;
    this.#varint(value);
    this.#varint(field * 8 + VARINT);
  }

  /** Writes a google.protobuf.Timestamp from nanoseconds since the epoch. */
  timestamp(field: number, nanos: bigint): void {
    const rest = ((nanos % SECOND) + SECOND) % SECOND;
    this.#time(field, (nanos - rest) / SECOND, rest);
  }

  /** Writes a google.protobuf.Duration from nanoseconds: seconds and nanos have the same sign. */
  duration(field: number, nanos: bigint): void {
    this.#time(field, nanos / SECOND, nanos % SECOND);
  }

  /** Returns the message. No more may be written. */
  finish(): Uint8Array {
    return this.#buffer.subarray(this.#start);
  }

  #time(field: number, seconds: bigint, nanos: bigint): void {
    const end = this.length;
    this.integer(2, Number(nanos));
    this.integer(1, Number(seconds));
    this.nested(field, end);
  }

  #head(field: number, length: number): void {
    this.#varint(length);
    this.#varint(field * 8 + LENGTH_DELIMITED);
  }

  #varint(value: number): void {
    this.#reserve(10);
    if (value < 0) {
      this.#negative(value);
      return;
    }
    let size = 1;
    for (let left = value; left >= 0x80; left = Math.floor(left / 0x80)) size++;
    this.#start -= size;
    let at = this.#start;
    let left = value;
    for (; left >= 0x80; left = Math.floor(left / 0x80)) this.#buffer[at++] = (left % 0x80) | 0x80;
    this.#buffer[at] = left;
  }

  /** Writes ten bytes: the two's complement of 64 bits. */
  #negative(value: number): void {
    let left = BigInt.asUintN(64, BigInt(value));
    this.#start -= 10;
    for (let at = this.#start; at < this.#start + 9; at++) {
      this.#buffer[at] = Number(left & 0x7fn) | 0x80;
      left >>= 7n;
    }
    this.#buffer[this.#start + 9] = Number(left);
  }

  #reserve(bytes: number): void {
    if (this.#start >= bytes) return;
    const written = this.length;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, written + bytes));
    const start = larger.length - written;
    this.#buffer.copy(larger, start, this.#start);
    this.#buffer = larger;
    this.#start = start;
  }
}
