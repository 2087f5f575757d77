import { ValueError } from "../entity/errors.js";
import { type Duration, durationOf } from "../type/duration.js";
import { mismatch, type Place } from "./place.js";

const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);

/** Checks an int: a safe integer. */
export function integerIn(value: unknown, place: Place): bigint {
  if (typeof value !== "number" || !Number.isInteger(value)) throw mismatch(place, "an integer", value);
  if (!Number.isSafeInteger(value))
    throw new ValueError(`${place.text} is ${value}, which a number does not hold exactly: declare it as t.bigint`);
  return BigInt(value);
}

/** Checks a bigint: an integer of 64 bits, as bigint or safe number. */
export function bigintIn(value: unknown, place: Place): bigint {
  if (typeof value === "number") return integerIn(value, place);
  if (typeof value !== "bigint") throw mismatch(place, "a bigint", value);
  if (value > MAX_INT64 || value < MIN_INT64) throw new ValueError(`${place.text} is ${value}, which does not fit 64 bits`);
  return value;
}

export function numberIn(value: unknown, place: Place): number {
  if (typeof value !== "number") throw mismatch(place, "a number", value);
  return value;
}

export function stringIn(value: unknown, place: Place): string {
  if (typeof value !== "string") throw mismatch(place, "a string", value);
  if (!value.isWellFormed()) throw new ValueError(`${place.text} has half of a surrogate pair, which UTF-8 cannot carry`);
  return value;
}

export function booleanIn(value: unknown, place: Place): boolean {
  if (typeof value !== "boolean") throw mismatch(place, "true or false", value);
  return value;
}

export function enumIn(value: unknown, names: readonly string[], place: Place): string {
  if (typeof value === "string" && names.includes(value)) return value;
  throw mismatch(place, `one of ${names.map((name) => JSON.stringify(name)).join(", ")}`, value);
}

/** Checks a Date within the years 1 to 9999, which protobuf and Python allow. */
export function dateIn(value: unknown, place: Place): Date {
  if (!(value instanceof Date)) throw mismatch(place, "a Date", value);
  const year = value.getUTCFullYear();
  if (Number.isNaN(year)) throw new ValueError(`${place.text} is an invalid Date`);
  if (year < 1 || year > 9999) throw new ValueError(`${place.text} is in the year ${year}; years 1 to 9999 are allowed`);
  return value;
}

export function durationIn(value: unknown, place: Place): Duration {
  const text = typeof value === "string";
  if (!text && !isDuration(value)) throw mismatch(place, `a duration, such as "90s"`, value);
  try {
    const duration = durationOf(text ? value : (value as Duration));
    if (Number.isFinite(duration.milliseconds)) return duration;
  } catch (error) {
    throw new ValueError(`${place.text}: ${(error as Error).message}`, { cause: error });
  }
  throw new ValueError(`${place.text} is an infinite duration`);
}

function isDuration(value: unknown): value is Duration {
  return typeof value === "object" && value !== null && typeof (value as { milliseconds?: unknown }).milliseconds === "number";
}

const MAX_BYTES = 1 << 20;

export function bytesIn(value: unknown, place: Place): Uint8Array {
  if (!(value instanceof Uint8Array)) throw mismatch(place, "a Uint8Array", value);
  if (value.length > MAX_BYTES) throw new ValueError(`${place.text} has ${value.length} bytes; more than 1 MiB belongs in a t.file()`);
  return value;
}

export function listIn(value: unknown, place: Place): readonly unknown[] {
  if (!Array.isArray(value)) throw mismatch(place, "a list", value);
  return value;
}

/** Checks an object with string keys; class instances count by their own fields. */
export function recordIn(value: unknown, place: Place): Readonly<Record<string, unknown>> {
  if (!isRecord(value)) throw mismatch(place, "an object", value);
  return value;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Date) &&
    !(value instanceof Uint8Array) &&
    !(value instanceof Map)
  );
}
