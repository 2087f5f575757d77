import { create, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { type Duration, DurationSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { parseGoDuration } from "@flyte-ts/domain/duration";
import {
  binaryLiteral,
  booleanLiteral,
  floatLiteral,
  integerLiteral,
  JsonLiteralError,
  literalFromJson,
  MSGPACK_TAG,
  noneLiteral,
  stringLiteral,
} from "@flyte-ts/domain/literal";
import { type Literal, LiteralSchema, type Primitive } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type LiteralType, SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { CopilotError } from "../copilot-error.js";

/**
 * Parses the content of an output's file. Simple types as flytecopilot reads them, without
 * surrounding spaces and ends of line; lists, maps and unions as JSON.
 * @throws CopilotError
 */
export function parseLiteral(bytes: Uint8Array, type: LiteralType): Literal {
  const text = trimBlanks(new TextDecoder().decode(bytes));
  const mismatch = (want: string) => new CopilotError("USER", `${JSON.stringify(text.slice(0, 100))} is no ${want}`);
  const kind = type.type;
  if (kind.case === "enumType") {
    if (kind.value.values.includes(text)) return stringLiteral(text);
    throw mismatch(`value of the enum (${kind.value.values.join(", ")})`);
  }
  if (kind.case !== "simple") return parseJsonLiteral(text, type);
  switch (kind.value) {
    case SimpleType.STRING:
      return stringLiteral(text);
    case SimpleType.INTEGER: {
      const integer = /^[+-]?\d+$/.test(text) ? BigInt(text.replace(/^\+/, "")) : undefined;
      if (integer === undefined || BigInt.asIntN(64, integer) !== integer) throw mismatch("integer of 64 bits");
      return integerLiteral(integer);
    }
    case SimpleType.FLOAT: {
      const number = parseFloat64(text);
      if (number === undefined) throw mismatch("number");
      return floatLiteral(number);
    }
    case SimpleType.BOOLEAN:
      if (["1", "t", "T", "TRUE", "true", "True"].includes(text)) return booleanLiteral(true);
      if (["0", "f", "F", "FALSE", "false", "False"].includes(text)) return booleanLiteral(false);
      throw mismatch("boolean");
    case SimpleType.DATETIME:
      try {
        return primitiveLiteral({ case: "datetime", value: fromJson(TimestampSchema, text) });
      } catch {
        throw mismatch("time in the form of RFC 3339, as 2026-01-31T12:00:00Z");
      }
    case SimpleType.DURATION: {
      const nanoseconds = parseGoDuration(text);
      if (nanoseconds === undefined) throw mismatch("duration, as 300ms, -1.5h or 2h45m");
      return primitiveLiteral({ case: "duration", value: durationMessage(nanoseconds) });
    }
    case SimpleType.BINARY:
      return binaryLiteral(bytes, MSGPACK_TAG);
    case SimpleType.ERROR:
      return create(LiteralSchema, { value: { case: "scalar", value: { value: { case: "error", value: { message: text } } } } });
    case SimpleType.NONE:
      return noneLiteral();
    case SimpleType.STRUCT:
      return parseJsonLiteral(text, type);
  }
}

function parseJsonLiteral(text: string, type: LiteralType): Literal {
  try {
    return literalFromJson(JSON.parse(text) as JsonValue, type);
  } catch (error) {
    if (error instanceof SyntaxError) throw new CopilotError("USER", `the content is not JSON: ${error.message}`, { cause: error });
    if (error instanceof JsonLiteralError) throw new CopilotError("USER", error.message, { cause: error });
    throw error;
  }
}

function parseFloat64(text: string): number | undefined {
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return Number(text);
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(text);
  if (special === null) return undefined;
  if (special[2]?.toLowerCase() === "nan") return Number.NaN;
  return special[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

function durationMessage(nanoseconds: bigint): Duration {
  return create(DurationSchema, { seconds: nanoseconds / 1_000_000_000n, nanos: Number(nanoseconds % 1_000_000_000n) });
}

function primitiveLiteral(value: Primitive["value"]): Literal {
  return create(LiteralSchema, { value: { case: "scalar", value: { value: { case: "primitive", value: { value } } } } });
}

const BLANKS = " \n\t\r";

/**
 * Cuts by position: a pattern for blanks at the end would be tried at each blank within, and a file
 * may hold megabytes of them.
 */
function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && BLANKS.includes(text.charAt(start))) start++;
  while (end > start && BLANKS.includes(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}
