const SECOND = 1_000_000_000n;

const VARINT = 0;
const LENGTH_DELIMITED = 2;

/**
 * Writes a protobuf message from its end to its beginning: fields in reverse order, and within a nested message its
 * fields before its head. So the length of what is nested is known when it is due, and nothing is copied. For answers
 * of which most is stored encoded; fields whose value is the default are left out, as protobuf says.
 */
export class MessageWriter {
  #buffer: Buffer;
  #start: number;

  /** With room for so many bytes; more is made when it is needed. */
  constructor(room = 1_024) {
    this.#buffer = Buffer.allocUnsafe(room);
    this.#start = room;
  }

  /** How much has been written: what {@link endOf} needs to know where a nested message ends. */
  get length(): number {
    return this.#buffer.length - this.#start;
  }

  /** Begins the message whose fields were written since `length` was asked for. It is there also when it has no fields. */
  nested(field: number, endOf: number): void {
    this.#head(field, this.length - endOf);
  }

  /** A nested message as its bytes, or fields of this one when `field` is 0. */
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

  /** int32, int64 or an enum. */
  integer(field: number, value: number): void {
    if (value === 0) return;
    this.#varint(value);
    this.#varint(field * 8 + VARINT);
  }

  /** google.protobuf.Timestamp of nanoseconds since the epoch. */
  timestamp(field: number, nanos: bigint): void {
    const rest = ((nanos % SECOND) + SECOND) % SECOND;
    this.#time(field, (nanos - rest) / SECOND, rest);
  }

  /** google.protobuf.Duration of nanoseconds: seconds and the rest have one sign. */
  duration(field: number, nanos: bigint): void {
    this.#time(field, nanos / SECOND, nanos % SECOND);
  }

  /** The message. Nothing may be written after. */
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

  /** Ten bytes: the two's complement of 64 bits. */
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
