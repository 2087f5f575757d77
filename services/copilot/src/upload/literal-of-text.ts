import { create, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { type Duration, DurationSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import {
  binaryLiteral,
  booleanLiteral,
  floatLiteral,
  integerLiteral,
  JsonLiteralError,
  literalFromJson,
  MSGPACK_TAG,
  noneLiteral,
  parseGoDuration,
  stringLiteral,
} from "@flyte-ts/domain";
import { type Literal, LiteralSchema, type Primitive } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type LiteralType, SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { CopilotFailure } from "../failure.js";

/**
 * Parses the content of an output's file. Simple types as flytecopilot reads them, without surrounding spaces and ends
 * of line; lists, maps and unions as JSON.
 * @throws CopilotFailure
 */
export function literalOfText(bytes: Uint8Array, type: LiteralType): Literal {
  const text = trimBlanks(new TextDecoder().decode(bytes));
  const wrong = (want: string) => new CopilotFailure("USER", `${JSON.stringify(text.slice(0, 100))} is no ${want}`);
  const kind = type.type;
  if (kind.case === "enumType") {
    if (kind.value.values.includes(text)) return stringLiteral(text);
    throw wrong(`value of the enum (${kind.value.values.join(", ")})`);
  }
  if (kind.case !== "simple") return fromText(text, type);
  switch (kind.value) {
    case SimpleType.STRING:
      return stringLiteral(text);
    case SimpleType.INTEGER: {
      const integer = /^[+-]?\d+$/.test(text) ? BigInt(text.replace(/^\+/, "")) : undefined;
      if (integer === undefined || BigInt.asIntN(64, integer) !== integer) throw wrong("integer of 64 bits");
      return integerLiteral(integer);
    }
    case SimpleType.FLOAT: {
      const number = floatOf(text);
      if (number === undefined) throw wrong("number");
      return floatLiteral(number);
    }
    case SimpleType.BOOLEAN:
      if (["1", "t", "T", "TRUE", "true", "True"].includes(text)) return booleanLiteral(true);
      if (["0", "f", "F", "FALSE", "false", "False"].includes(text)) return booleanLiteral(false);
      throw wrong("boolean");
    case SimpleType.DATETIME:
      try {
        return primitive({ case: "datetime", value: fromJson(TimestampSchema, text) });
      } catch {
        throw wrong("time in the form of RFC 3339, as 2026-01-31T12:00:00Z");
      }
    case SimpleType.DURATION: {
      const nanoseconds = parseGoDuration(text);
      if (nanoseconds === undefined) throw wrong("duration, as 300ms, -1.5h or 2h45m");
      return primitive({ case: "duration", value: durationOf(nanoseconds) });
    }
    case SimpleType.BINARY:
      return binaryLiteral(bytes, MSGPACK_TAG);
    case SimpleType.ERROR:
      return create(LiteralSchema, { value: { case: "scalar", value: { value: { case: "error", value: { message: text } } } } });
    case SimpleType.NONE:
      return noneLiteral();
    case SimpleType.STRUCT:
      return fromText(text, type);
  }
}

function fromText(text: string, type: LiteralType): Literal {
  try {
    return literalFromJson(JSON.parse(text) as JsonValue, type);
  } catch (error) {
    if (error instanceof SyntaxError) throw new CopilotFailure("USER", `the content is no JSON: ${error.message}`, { cause: error });
    if (error instanceof JsonLiteralError) throw new CopilotFailure("USER", error.message, { cause: error });
    throw error;
  }
}

function floatOf(text: string): number | undefined {
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return Number(text);
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(text);
  if (special === null) return undefined;
  if (special[2]?.toLowerCase() === "nan") return Number.NaN;
  return special[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

function durationOf(nanoseconds: bigint): Duration {
  return create(DurationSchema, { seconds: nanoseconds / 1_000_000_000n, nanos: Number(nanoseconds % 1_000_000_000n) });
}

function primitive(value: Primitive["value"]): Literal {
  return create(LiteralSchema, { value: { case: "scalar", value: { value: { case: "primitive", value: { value } } } } });
}

const BLANKS = " \n\t\r";

/** Cuts by position: a pattern for blanks at the end would be tried at each blank within, and a file may hold megabytes of them. */
function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && BLANKS.includes(text.charAt(start))) start++;
  while (end > start && BLANKS.includes(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}
