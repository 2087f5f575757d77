import { nanosecondsOf, parseGoDuration } from "@flyte-ts/domain/duration";

/** Like {@link parseGoDuration}; a plain number means seconds. */
export function parseDuration(text: string): bigint | undefined {
  // Each digit matches in one place only, to prevent catastrophic backtracking.
  const plain = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i.test(text);
  return plain ? nanosecondsOf(Number(text)) : parseGoDuration(text);
}
