import { fromJson, ScalarType, type DescField, type DescMessage, type JsonValue, type Message, type Registry } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { findField } from "../routing/bind-text.js";
import { parseJsonText, BigIntegerText, type ParsedJson } from "./json-text.js";

export interface JsonRequestOptions {
  /** Ignore fields that the message does not have. */
  readonly ignoreUnknown: boolean;
  readonly registry: Registry;
}

/** The JSON body does not match the message. */
export class JsonRequestError extends Error {
  override readonly name = "JsonRequestError";
}

/**
 * Parses a message from a JSON body, with field names in either spelling; undefined when the body
 * is empty.
 */
export function readJsonRequest(schema: DescMessage, body: string, options: JsonRequestOptions): Message | undefined {
  const { value, hasBigInteger } = parseJsonText(body);
  if (value === undefined) return undefined;
  const json = hasBigInteger ? resolveMessage(schema, value) : (value as JsonValue);
  try {
    return fromJson(schema, json, { ignoreUnknownFields: options.ignoreUnknown, registry: options.registry });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const unknown = /^cannot decode message (\S+) from JSON: key (".*") is unknown$/s.exec(reason);
    throw new JsonRequestError(unknown ? `unknown field ${unknown[2]} in ${unknown[1]}` : reason, { cause: error });
  }
}

/** Converts wide integers to text in 64-bit fields, and to the nearest number elsewhere. */
function resolveMessage(schema: DescMessage, value: ParsedJson): JsonValue {
  if (isWrapperDesc(schema)) return resolveScalar(schema.fields[0]?.scalar, value);
  if (schema.typeName.startsWith("google.protobuf.") || !isObject(value)) return resolvePlain(value);
  return mapObject(value, (each, key) => {
    const field = findField(schema, key);
    return field ? resolveField(field, each) : resolvePlain(each);
  });
}

function resolveField(field: DescField, value: ParsedJson): JsonValue {
  const one = (each: ParsedJson): JsonValue => (field.message ? resolveMessage(field.message, each) : resolveScalar(field.scalar, each));
  if (field.fieldKind === "list" && Array.isArray(value)) return value.map(one);
  if (field.fieldKind === "map" && isObject(value)) return mapObject(value, one);
  return one(value);
}

function resolveScalar(type: ScalarType | undefined, value: ParsedJson): JsonValue {
  if (value instanceof BigIntegerText) {
    switch (type) {
      case ScalarType.INT64:
      case ScalarType.UINT64:
      case ScalarType.SINT64:
      case ScalarType.FIXED64:
      case ScalarType.SFIXED64:
        return value.text;
      default:
        return Number(value.text);
    }
  }
  return resolvePlain(value);
}

function resolvePlain(value: ParsedJson): JsonValue {
  if (value instanceof BigIntegerText) return Number(value.text);
  if (Array.isArray(value)) return value.map(resolvePlain);
  return isObject(value) ? mapObject(value, resolvePlain) : value;
}

function isObject(value: ParsedJson): value is { [key: string]: ParsedJson } {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof BigIntegerText);
}

function mapObject(value: { [key: string]: ParsedJson }, change: (value: ParsedJson, key: string) => JsonValue): JsonValue {
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, change(each, key)]));
}
