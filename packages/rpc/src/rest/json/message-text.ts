import { create, fromJson, isMessage, ScalarType, type DescMessage, type Message } from "@bufbuild/protobuf";
import { DurationSchema, FieldMaskSchema, isWrapperDesc, StructSchema, TimestampSchema, ValueSchema } from "@bufbuild/protobuf/wkt";
import { scanJson, violationText } from "@flyte-ts/input-limits";
import { parseScalar, quote, TextError } from "./scalar-text.js";

/** Parses a query value as one of the well-known messages; other messages have no text form. */
export function parseMessageText(schema: DescMessage, text: string): Message {
  if (isWrapperDesc(schema)) {
    const field = schema.fields[0];
    const value = parseScalar(field?.scalar ?? ScalarType.STRING, text);
    return create(schema, { value } as unknown as Message);
  }
  switch (schema.typeName) {
    case "google.protobuf.Timestamp":
      return viaJson(TimestampSchema, text, "an RFC 3339 time");
    case "google.protobuf.Duration":
      return durationOf(text);
    case "google.protobuf.FieldMask":
      return create(FieldMaskSchema, { paths: text.split(",") });
    case "google.protobuf.Struct":
    case "google.protobuf.Value":
      return structOf(schema, text);
    default:
      throw new TextError(`${schema.typeName} cannot be given as text`);
  }
}

function viaJson(schema: DescMessage, text: string, form: string): Message {
  try {
    return fromJson(schema, text);
  } catch {
    throw new TextError(`${quote(text)} is not ${form}`);
  }
}

/** Limits of JSON in a query. */
const JSON_LIMITS = { bytes: 256 * 1024, elements: 10_000, depth: 30 };

function structOf(schema: DescMessage, text: string): Message {
  const violation = scanJson(text, JSON_LIMITS);
  if (violation !== undefined) throw new TextError(`JSON for ${schema.typeName} ${violationText(violation)}`);
  try {
    const message = fromJson(schema.typeName === StructSchema.typeName ? StructSchema : ValueSchema, JSON.parse(text));
    if (isMessage(message)) return message;
  } catch {
    // Falls through to the one error below.
  }
  throw new TextError(`${quote(text)} is not JSON for ${schema.typeName}`);
}

const unitNanos: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  "\u00b5s": 1_000n,
  "\u03bcs": 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

const LONGEST_DURATION = 200;
/**
 * Excludes the unit `m` before an `s`, so that a text splits into parts in one way only. Otherwise
 * the expression would try every split before it rejects the text.
 */
const DURATION = /^([+-]?)((?:[0-9]{0,18}(?:\.[0-9]{0,18})?(?:ns|us|\u00b5s|\u03bcs|ms|s|m(?!s)|h))+|0)$/;

/** Parses a duration as Go writes it: `1h2m3.5s`, `300ms`, `-2s`, `0`. */
function durationOf(text: string): Message {
  const match = text.length > LONGEST_DURATION ? null : DURATION.exec(text);
  if (!match) throw new TextError(`${quote(text)} is not a duration such as 1h2m3.5s`);
  let nanos = 0n;
  for (const [, whole = "", fraction = "", unit = ""] of match[2]?.matchAll(/([0-9]*)(?:\.([0-9]*))?([a-z\u00b5\u03bc]+)/g) ?? []) {
    if (whole === "" && fraction === "") throw new TextError(`${quote(text)} is not a duration such as 1h2m3.5s`);
    const scale = unitNanos[unit] ?? 0n;
    nanos +=
      BigInt(whole === "" ? "0" : whole) * scale + (BigInt(fraction === "" ? "0" : fraction) * scale) / 10n ** BigInt(fraction.length);
  }
  if (nanos > 9_223_372_036_854_775_807n) throw new TextError(`${quote(text)} is out of range of a duration`);
  if (match[1] === "-") nanos = -nanos;
  return create(DurationSchema, { seconds: nanos / 1_000_000_000n, nanos: Number(nanos % 1_000_000_000n) });
}
