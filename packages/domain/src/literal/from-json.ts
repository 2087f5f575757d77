import { create, fromJson, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { DurationSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { type Literal, LiteralSchema, type Primitive, type Scalar } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type LiteralType, SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { typeToText } from "../type/text.js";
import {
  booleanLiteral,
  collectionLiteral,
  floatLiteral,
  integerLiteral,
  mapLiteral,
  noneLiteral,
  stringLiteral,
  structLiteral,
  unionLiteral,
} from "./build.js";

/** A JSON value does not have the declared type. The message names the place within the value. */
export class JsonLiteralError extends Error {
  override readonly name = "JsonLiteralError";
}

const MAX_INT64 = 2n ** 63n - 1n;

/**
 * Converts a JSON value to a literal of the declared type. Integers may be texts, as in protobuf's
 * JSON, since JSON numbers carry 53 bits; datetimes are RFC 3339 texts, durations such as `1.5s`,
 * files and data sets texts with their address. For a union the first matching variant is used.
 *
 * @param at the value's place, for messages.
 * @throws JsonLiteralError
 */
export function literalFromJson(value: JsonValue, type: LiteralType, at = ""): Literal {
  const kind = type.type;
  switch (kind.case) {
    case "simple":
      return simpleFromJson(value, kind.value, at);
    case "enumType":
      if (typeof value === "string" && kind.value.values.includes(value)) return stringLiteral(value);
      throw mismatch(value, `one of ${kind.value.values.join(", ")}`, at);
    case "collectionType":
      if (!Array.isArray(value)) throw mismatch(value, "a list", at);
      return collectionLiteral(value.map((item, i) => literalFromJson(item, kind.value, `${at}/${i}`)));
    case "mapValueType":
      if (!isObject(value)) throw mismatch(value, "an object", at);
      return mapLiteral(
        Object.entries(value).map(([key, item]) => [key, literalFromJson(item, kind.value, `${at}/${escapePointerStep(key)}`)]),
      );
    case "unionType":
      return unionFromJson(value, { variants: kind.value.variants, at, text: typeToText(type) });
    case "blob":
      return scalar({
        case: "blob",
        value: { $typeName: "flyteidl.core.Blob", uri: addressIn(value, at), metadata: blobMetadata(kind.value) },
      });
    case "structuredDatasetType": {
      const metadata = { $typeName: "flyteidl.core.StructuredDatasetMetadata" as const, structuredDatasetType: kind.value };
      const uri = addressIn(value, at);
      return scalar({ case: "structuredDataset", value: { $typeName: "flyteidl.core.StructuredDataset", uri, metadata } });
    }
    default:
      throw new JsonLiteralError(`${placeText(at)} cannot be made from JSON: its type is ${typeToText(type)}`);
  }
}

/** Formats a step of a JSON pointer (RFC 6901). */
export function escapePointerStep(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** Splits a JSON pointer into steps. @throws JsonLiteralError when it is invalid. */
export function parseJsonPointer(pointer: string): string[] {
  if (pointer === "") return [];
  if (!pointer.startsWith("/"))
    throw new JsonLiteralError(`${JSON.stringify(pointer)} is not a JSON pointer: it must be empty or begin with /`);
  return pointer
    .slice(1)
    .split("/")
    .map((step) => {
      if (/~(?![01])/.test(step)) throw new JsonLiteralError(`${JSON.stringify(pointer)} is not a JSON pointer: ~ must be written as ~0`);
      return step.replaceAll("~1", "/").replaceAll("~0", "~");
    });
}

/**
 * Returns the value at a pointer. @throws JsonLiteralError naming the first step that does not
 * exist.
 */
export function resolveJsonPointer(value: JsonValue, pointer: string): JsonValue {
  let found = value;
  for (const step of parseJsonPointer(pointer)) {
    const inside: unknown = Array.isArray(found)
      ? /^(0|[1-9][0-9]*)$/.test(step)
        ? found[Number(step)]
        : undefined
      : isObject(found) && Object.hasOwn(found, step)
        ? found[step]
        : undefined;
    if (inside === undefined)
      throw new JsonLiteralError(`there is nothing at ${pointer}: ${JSON.stringify(step)} is not in ${kindOf(found)}`);
    found = inside as JsonValue;
  }
  return found;
}

function simpleFromJson(value: JsonValue, type: SimpleType, at: string): Literal {
  switch (type) {
    case SimpleType.NONE:
      if (value === null) return noneLiteral();
      throw mismatch(value, "null", at);
    case SimpleType.INTEGER:
      return integerLiteral(integerIn(value, at));
    case SimpleType.FLOAT:
      if (typeof value === "number") return floatLiteral(value);
      throw mismatch(value, "a number", at);
    case SimpleType.STRING:
      if (typeof value === "string") return stringLiteral(value);
      throw mismatch(value, "a text", at);
    case SimpleType.BOOLEAN:
      if (typeof value === "boolean") return booleanLiteral(value);
      throw mismatch(value, "true or false", at);
    case SimpleType.DATETIME:
      return primitive({
        case: "datetime",
        value: wellKnown(() => fromJson(TimestampSchema, value), { value, want: "a time as 2026-01-31T12:00:00Z", at }),
      });
    case SimpleType.DURATION:
      return primitive({
        case: "duration",
        value: wellKnown(() => fromJson(DurationSchema, value), { value, want: "a duration as 1.5s", at }),
      });
    case SimpleType.STRUCT:
      if (isObject(value)) return structLiteral(value);
      throw mismatch(value, "an object", at);
    default:
      throw new JsonLiteralError(`${placeText(at)} cannot be made from JSON: its type is ${SimpleType[type] ?? type}`);
  }
}

function integerIn(value: JsonValue, at: string): bigint {
  if (typeof value === "number" && Number.isInteger(value)) {
    if (Number.isSafeInteger(value)) return BigInt(value);
    throw new JsonLiteralError(`${placeText(at)} exceeds what a JSON number holds exactly: give it as a string`);
  }
  if (typeof value === "string" && /^-?[0-9]{1,19}$/.test(value)) {
    const integer = BigInt(value);
    if (integer <= MAX_INT64 && integer >= -MAX_INT64 - 1n) return integer;
    throw new JsonLiteralError(`${placeText(at)} does not fit an integer of 64 bits`);
  }
  throw mismatch(value, "an integer", at);
}

interface Union {
  readonly variants: readonly LiteralType[];
  readonly at: string;
  readonly text: string;
}

function unionFromJson(value: JsonValue, { variants, at, text }: Union): Literal {
  for (const variant of variants) {
    try {
      return unionLiteral(literalFromJson(value, variant, at), variant);
    } catch (error) {
      if (!(error instanceof JsonLiteralError)) throw error;
    }
  }
  throw mismatch(value, `one of the variants of ${text}`, at);
}

function addressIn(value: JsonValue, at: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw mismatch(value, "a string with a URI", at);
}

function blobMetadata(type: Extract<LiteralType["type"], { case: "blob" }>["value"]) {
  return { $typeName: "flyteidl.core.BlobMetadata" as const, type };
}

interface WellKnown {
  readonly value: JsonValue;
  readonly want: string;
  readonly at: string;
}

function wellKnown<T>(read: () => T, { value, want, at }: WellKnown): T {
  try {
    return read();
  } catch {
    throw mismatch(value, want, at);
  }
}

const isObject = (value: JsonValue): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);

function mismatch(value: JsonValue, want: string, at: string): JsonLiteralError {
  return new JsonLiteralError(`${placeText(at)} must be ${want}, found ${kindOf(value)}`);
}

const placeText = (at: string): string => (at === "" ? "the value" : `the value at ${at}`);

function kindOf(value: JsonValue): string {
  if (Array.isArray(value)) return "a list";
  if (value === null) return "null";
  switch (typeof value) {
    case "object":
      return "an object";
    case "string":
      return "a text";
    default:
      return `${typeof value} ${JSON.stringify(value)}`;
  }
}

const primitive = (value: Primitive["value"]): Literal =>
  scalar({ case: "primitive", value: { $typeName: "flyteidl.core.Primitive", value } });

function scalar(value: Scalar["value"]): Literal {
  return create(LiteralSchema, { value: { case: "scalar", value: { $typeName: "flyteidl.core.Scalar", value } } });
}
