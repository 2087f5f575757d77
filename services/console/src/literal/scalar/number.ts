import type { Bounds } from "../type/field-type.js";

/** Bounds of the integers of Flyte: 64 bits. */
export const INT64: Required<Bounds<bigint>> = { minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n };

/** A value that was read from a text, or the rule that the text breaks with its remedy. */
export type Reading<Value> =
  | { readonly value: Value; readonly problem?: undefined; readonly isEmpty?: undefined }
  | { readonly value?: undefined; readonly problem: string; readonly isEmpty?: boolean };

/** Reads a whole number: `-5`, `+5`, `5_000`. */
export function readInteger(text: string, { minimum, maximum }: Bounds<bigint> = {}): Reading<bigint> {
  const plain = text.trim().replaceAll("_", "");
  if (plain === "") return { problem: "Write a whole number.", isEmpty: true };
  if (!/^[+-]?\d+$/.test(plain)) return { problem: `Not a whole number: ${integerRemedy(plain)}` };
  const value = BigInt(plain.replace(/^\+/, ""));
  const [least, greatest] = [minimum ?? INT64.minimum, maximum ?? INT64.maximum];
  if (value < least) return { problem: `Below the least value: write ${least} or more.` };
  if (value > greatest) return { problem: `Above the greatest value: write ${greatest} or less.` };
  return { value };
}

function integerRemedy(text: string): string {
  const [whole = ""] = /^[+-]?\d+/.exec(text) ?? [];
  return whole === "" ? "write digits, such as 42." : `write ${whole} without what follows it.`;
}

const NAMED_FLOATS: Readonly<Record<string, number>> = {
  nan: Number.NaN,
  inf: Number.POSITIVE_INFINITY,
  "+inf": Number.POSITIVE_INFINITY,
  "-inf": Number.NEGATIVE_INFINITY,
  infinity: Number.POSITIVE_INFINITY,
  "-infinity": Number.NEGATIVE_INFINITY,
};

/** Reads a number: `0.05`, `1e-3`, `nan`, `inf`. */
export function readFloat(text: string, { minimum, maximum }: Bounds<number> = {}): Reading<number> {
  const plain = text.trim().replaceAll("_", "");
  if (plain === "") return { problem: "Write a number.", isEmpty: true };
  const value = NAMED_FLOATS[plain.toLowerCase()] ?? (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : undefined);
  if (value === undefined) return { problem: `Not a number: ${floatRemedy(plain)}` };
  if (minimum !== undefined && value < minimum) return { problem: `Below the least value: write ${minimum} or more.` };
  if (maximum !== undefined && value > maximum) return { problem: `Above the greatest value: write ${maximum} or less.` };
  return { value };
}

function floatRemedy(text: string): string {
  const [number = ""] = /^[+-]?\d+(\.\d+)?/.exec(text) ?? [];
  if (/^[+-]?\d+,\d+$/.test(text)) return `write ${text.replace(",", ".")} with a point.`;
  if (number === "") return "write digits, such as 0.05, or nan or inf.";
  return `write ${number} without ${text === `${number},` ? "the comma" : "what follows it"}.`;
}

/** Formats a number so that it reads as the same one. */
export function formatFloat(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  return Object.is(value, -0) ? "-0" : String(value);
}
