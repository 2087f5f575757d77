import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { GraphError, ValueError } from "../entity/errors.js";
import { type AnyType, described, type Fields, mayBeAbsent } from "../type/type.js";
import { graphEncoding } from "./encoding.js";
import { jsonFromPlain } from "./from-plain.js";
import { rootPlace } from "./place.js";
import { toPlain } from "./to-plain.js";
import { variantsOf } from "./union.js";

const PATH: JsonObject = { default: null, anyOf: [{ type: "string" }, { type: "string", format: "path" }] };
const TEXTS: JsonObject = { type: "object", additionalProperties: { type: "string" }, propertyNames: { type: "string" } };

/** Returns the JSON Schema of a type within an object, in flytekit's form. */
export function jsonSchemaOf(type: AnyType): JsonObject {
  const shown = described(type);
  switch (shown.kind) {
    case "int":
    case "bigint":
      return { type: "integer" };
    case "float":
      return { type: "number" };
    case "string":
      return { type: "string" };
    case "boolean":
      return { type: "boolean" };
    case "datetime":
      return { type: "string", format: "date-time" };
    case "duration":
      return { type: "number", format: "time-delta" };
    case "none":
      return { type: "null" };
    case "bytes":
      return { type: "string", format: "base64" };
    case "json":
      return { type: "object" };
    case "enum":
      return { enum: [...shown.names] };
    case "list":
      return { type: "array", items: jsonSchemaOf(shown.element) };
    case "map":
      return { type: "object", additionalProperties: jsonSchemaOf(shown.element), propertyNames: { type: "string" } };
    case "optional":
    case "union":
      return { anyOf: variantsOf(type).map(jsonSchemaOf) };
    case "object":
      return objectSchema(shown.title, shown.fields);
    case "schema":
      return jsonSchemaOf(shown.shape.input);
    case "file":
      return classSchema("FlyteFile", { path: PATH, metadata: { default: null, anyOf: [TEXTS, { type: "null" }] } });
    case "directory":
      return classSchema("FlyteDirectory", { path: PATH });
    case "dataset":
      return classSchema("StructuredDataset", {
        uri: { default: null, anyOf: [{ type: "string" }, { type: "null" }] },
        file_format: { default: "", anyOf: [{ type: "string" }, { type: "null" }] },
      });
    case "error":
      return classSchema("FlyteError", { message: { type: "string" }, failed_node_id: { type: "string" } });
    case "default":
      return withDefault(shown.inner, shown.value);
    case "opaque":
      return shown.literalType.metadata ?? {};
  }
}

function objectSchema(title: string, fields: Fields): JsonObject {
  const entries = Object.entries(fields);
  const properties = Object.fromEntries(entries.map(([name, field]) => [name, fieldSchema(field)]));
  const required = entries.filter(([, field]) => !mayBeAbsent(field)).map(([name]) => name);
  return { title, type: "object", properties, ...(required.length > 0 && { required }), additionalProperties: false };
}

/** Returns the schema of a field; an optional one without a default has the default null. */
function fieldSchema(field: AnyType): JsonObject {
  return field.kind === "optional" ? { ...jsonSchemaOf(field), default: null } : jsonSchemaOf(field);
}

function classSchema(title: string, properties: Readonly<Record<string, JsonObject>>): JsonObject {
  return { title, type: "object", properties, additionalProperties: false };
}

function withDefault(inner: AnyType, value: unknown): JsonObject {
  const shown = jsonDefault(inner, value);
  return shown === undefined ? jsonSchemaOf(inner) : { ...jsonSchemaOf(inner), default: shown };
}

/** Returns a default as JSON, as within objects; undefined when JSON cannot show it. */
function jsonDefault(type: AnyType, value: unknown): JsonValue | undefined {
  const place = rootPlace("the default");
  try {
    const json = jsonFromPlain(toPlain(type, value, graphEncoding, place), place) as JsonValue;
    return isFinite(json) ? json : undefined;
  } catch (error) {
    if (error instanceof ValueError || error instanceof GraphError) return undefined;
    throw error;
  }
}

function isFinite(json: JsonValue): boolean {
  if (typeof json === "object" && json !== null) return Object.values(json).every(isFinite);
  return typeof json !== "number" || Number.isFinite(json);
}
