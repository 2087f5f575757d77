import {
  ScalarType,
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  type MessageShape,
  type Registry,
} from "@bufbuild/protobuf";
import { toLenientJson } from "./lenient-json.js";

export interface JsonResponseOptions {
  /** Names as in the .proto file instead of lowerCamelCase. */
  readonly protoNames: boolean;
  readonly registry: Registry;
}

/**
 * Formats a message as grpc-gateway does: zero values are present, unset message fields are null,
 * and members of a oneof (or optional fields) appear only when set.
 */
export function writeJsonResponse<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
  options: JsonResponseOptions,
): JsonValue {
  const { protoNames, registry } = options;
  const json = toLenientJson(schema, message, { alwaysEmitImplicit: true, useProtoFieldName: protoNames, registry });
  complete(schema, json, options);
  return json;
}

/** Adds the nulls in place, and shortens 32-bit floats to their own precision. */
function complete(schema: DescMessage, json: JsonValue | undefined, options: JsonResponseOptions): void {
  if (!isObject(json)) return;
  if (schema.typeName === "google.protobuf.Any") {
    completeAny(json, options);
    return;
  }
  if (schema.typeName.startsWith("google.protobuf.")) return;
  for (const field of schema.fields) {
    const key = options.protoNames ? field.name : field.jsonName;
    const value = json[key];
    if (value === undefined) {
      if (field.fieldKind === "message" && !field.oneof && !field.proto.proto3Optional) json[key] = null;
    } else if (field.message) {
      for (const each of valuesOf(field, value)) complete(field.message, each, options);
    } else if (field.scalar === ScalarType.FLOAT) {
      json[key] = shorten(value);
    }
  }
}

function completeAny(json: JsonObject, options: JsonResponseOptions): void {
  const type = json["@type"];
  const schema = typeof type === "string" ? options.registry.getMessage(type.slice(type.lastIndexOf("/") + 1)) : undefined;
  if (schema && !schema.typeName.startsWith("google.protobuf.")) complete(schema, json, options);
}

function valuesOf(field: DescField, value: JsonValue): readonly (JsonValue | undefined)[] {
  if (field.fieldKind === "list" && Array.isArray(value)) return value;
  if (field.fieldKind === "map" && isObject(value)) return Object.values(value);
  return [value];
}

function shorten(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(shorten);
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shorten(each ?? null)]));
  if (typeof value !== "number") return value;
  for (let digits = 6; digits <= 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
