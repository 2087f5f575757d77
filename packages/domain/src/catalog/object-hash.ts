import { createHash } from "node:crypto";
import type { JsonValue } from "@bufbuild/protobuf";

/**
 * Hash of a JSON value, independent of the order of its keys: SHA-256 over a type letter and the
 * content, nested (Ben Laurie's objecthash). All numbers count as floats, as they do when JSON is
 * read without a schema.
 */
export function objectHash(value: JsonValue): Buffer {
  if (value === null) return digest("n", "");
  if (typeof value === "string") return digest("u", value);
  if (typeof value === "number") return digest("f", floatText(value));
  if (typeof value === "boolean") return digest("b", value ? "1" : "0");
  if (Array.isArray(value)) return digest("l", Buffer.concat(value.map(objectHash)));
  const entries = Object.entries(value).map(([key, item]) => ({ key: objectHash(key), item: objectHash(item) }));
  entries.sort((a, b) => a.key.compare(b.key));
  return digest("d", Buffer.concat(entries.flatMap(({ key, item }) => [key, item])));
}

function digest(type: string, content: string | Buffer): Buffer {
  return createHash("sha256").update(type).update(content).digest();
}

/** Sign, exponent and the bits of a mantissa in (1/2, 1]: `+1:011` is 1.5, or 0.75 · 2. */
function floatText(value: number): string {
  if (value === 0) return "+0:";
  let mantissa = Math.abs(value);
  let exponent = 0;
  for (; mantissa > 1; mantissa /= 2) exponent++;
  for (; mantissa <= 0.5; mantissa *= 2) exponent--;
  let text = `${value < 0 ? "-" : "+"}${exponent}:`;
  while (mantissa !== 0) {
    const bit = mantissa >= 1;
    text += bit ? "1" : "0";
    mantissa = (mantissa - (bit ? 1 : 0)) * 2;
  }
  return text;
}
