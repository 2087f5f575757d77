const ZERO = 48;
/** Length of `2026-11-28T01:02:03`. */
const SECONDS_LENGTH = 19;
const [POINT, ZULU] = [46, 90];
const ascii = new TextDecoder();

/**
 * Reads a time in RFC 3339 in milliseconds of the epoch; NaN for none. Times of logs end with `Z`
 * and are read without a text: a log has a million of them.
 */
export function readTime(bytes: Uint8Array): number {
  const end = bytes.length - 1;
  if (end < SECONDS_LENGTH || bytes[end] !== ZULU) return Date.parse(ascii.decode(bytes));
  const two = (at: number): number => ((bytes[at] as number) - ZERO) * 10 + (bytes[at + 1] as number) - ZERO;
  const second = Date.UTC(two(0) * 100 + two(2), two(5) - 1, two(8), two(11), two(14), two(17));
  return bytes[SECONDS_LENGTH] === POINT ? second + fraction(bytes, SECONDS_LENGTH + 1, end) : second;
}

/** Reads the digits after the point as whole milliseconds. */
function fraction(bytes: Uint8Array, from: number, to: number): number {
  let milliseconds = 0;
  for (let at = from, scale = 100; at < to && scale >= 1; at++, scale /= 10) milliseconds += ((bytes[at] as number) - ZERO) * scale;
  return milliseconds;
}
