import { nanosecondsOf, parseGoDuration } from "@flyte-ts/domain";

/** Like {@link parseGoDuration}; a plain number counts seconds. */
export function parseDuration(text: string): bigint | undefined {
  // Digits have one place each: two that could take them would be tried in every division.
  const plain = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i.test(text);
  return plain ? nanosecondsOf(Number(text)) : parseGoDuration(text);
}
