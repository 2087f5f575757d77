import type { Limits, Measurement, Violation } from "./limits.js";

/**
 * Checks JSON text against limits before it is parsed. The parser decides whether the JSON is
 * valid: the count is never less than what a parser builds before it finds an error.
 */
export function scanJson(text: string | Uint8Array, limits: Limits): Violation | undefined {
  return measureJson(text, limits).violation;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Counts the values of JSON text; stops at the first violation of the limits. */
export function measureJson(text: string | Uint8Array, limits: Limits): Measurement {
  const bytes = typeof text === "string" ? Buffer.from(text, "utf8") : text;
  if (bytes.length > limits.bytes) return { elements: 0, depth: 0, violation: { kind: "bytes", limit: limits.bytes } };
  // Every value but the first follows a comma or is the first one in an object or array.
  let elements = 1;
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case QUOTE:
        at = endOfString(bytes, at);
        break;
      case COMMA:
        elements++;
        break;
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        elements++;
        depth++;
        if (depth > deepest) deepest = depth;
        if (depth > limits.depth) return { elements, depth, violation: { kind: "depth", limit: limits.depth } };
        break;
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        depth--;
        break;
      default:
        continue;
    }
    if (elements > limits.elements) return { elements, depth: deepest, violation: { kind: "elements", limit: limits.elements } };
  }
  return { elements, depth: deepest, violation: undefined };
}

/**
 * Position of the quote that closes the string which opens at `from`; the end of the text where
 * none does.
 */
function endOfString(bytes: Uint8Array, from: number): number {
  let at = from + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
