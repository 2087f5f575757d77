const encoder = new TextEncoder();
const FIRST_CAPACITY = 64;
/** Bytes of UTF-8 per UTF-16 code unit, at most. */
const BYTES_PER_UNIT = 3;

/** UTF-8 of one text after another, in one buffer. */
export class EncodedText {
  bytes = new Uint8Array(FIRST_CAPACITY);
  length = 0;

  set(text: string): void {
    const needed = text.length * BYTES_PER_UNIT;
    if (needed > this.bytes.length) this.bytes = new Uint8Array(2 * needed);
    this.length = encoder.encodeInto(text, this.bytes).written;
  }

  /** Number of leading bytes that both have, at most `limit`. */
  sharedLength(other: EncodedText, limit: number): number {
    const most = Math.min(this.length, other.length, limit);
    let length = 0;
    while (length < most && this.bytes[length] === other.bytes[length]) length++;
    return length;
  }
}
