import { parseDuration } from "./duration.js";

/** Type of a column: how the text of a filter's value is parsed and compared. */
export type ColumnType = "text" | "int4" | "int8" | "timestamp" | "duration" | "bytes";

interface TypeRule {
  /** Cast of the parameter in SQL. */
  readonly cast: string;
  /** Expected format, for error messages. */
  readonly expects: string;
  /** Returns the parameter, or undefined for an invalid text. */
  readonly parse: (text: string) => string | undefined;
}

const integer = (bits: bigint) => (text: string) => {
  if (!/^[+-]?\d{1,20}$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ""));
  return BigInt.asIntN(Number(bits), value) === value ? value.toString() : undefined;
};

export const columnTypes: Readonly<Record<ColumnType, TypeRule>> = {
  text: { cast: "text", expects: "text without NUL characters", parse: (text) => (text.includes("\0") ? undefined : text) },
  int4: { cast: "int4", expects: "a 32-bit integer", parse: integer(32n) },
  int8: { cast: "int8", expects: "a 64-bit integer", parse: integer(64n) },
  timestamp: { cast: "timestamptz", expects: "a time as in RFC 3339", parse: parseTimestamp },
  duration: {
    cast: "int8",
    expects: "a duration such as 90s or 1h30m, or a number of seconds",
    parse: (text) => parseDuration(text)?.toString(),
  },
  bytes: { cast: "bytea", expects: "no filter: the column is binary", parse: () => undefined },
};

const timestampShape = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?\s?(Z|z|[+-]\d\d:?\d\d)?)?$/;

/** Parses RFC 3339, also without time, seconds or zone (then UTC). */
function parseTimestamp(text: string): string | undefined {
  const match = timestampShape.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour = "0", minute = "0", second = "0", zone] = match;
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  const realDay = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day) && Number(year) > 0;
  if (!realDay || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const offset = /^[+-](\d\d):?(\d\d)$/.exec(zone ?? "");
  if (offset !== null && (Number(offset[1]) > 14 || Number(offset[2]) > 59)) return undefined;
  return zone === undefined ? `${text}${hour === "0" ? "T00:00:00" : ""}Z` : text;
}
