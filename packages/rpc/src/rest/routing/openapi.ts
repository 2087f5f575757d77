import { ScalarType, type DescEnum, type DescField, type DescMessage, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import type { Route } from "./route-table.js";

/** Describes the routes as a Swagger 2.0 document, for API browsers and client generators. */
export function createOpenApi(routes: readonly Route[]): JsonObject {
  const definitions = new Definitions();
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    const path = route.template.text.replace(/\{([^}=]+)=[^}]*\}/g, "{$1}");
    const operations = (paths[path] ??= {});
    operations[route.verb.toLowerCase()] = operationOf(route, { definitions, index: countOf(routes, route) });
  }
  return {
    swagger: "2.0",
    info: { title: "Flyte API", version: "1.16" },
    schemes: ["http", "https"],
    consumes: ["application/json", "application/octet-stream"],
    produces: ["application/json", "application/octet-stream"],
    paths,
    definitions: definitions.all(),
  };
}

/** Number of earlier routes of the same method: operation ids are unique. */
function countOf(routes: readonly Route[], route: Route): number {
  return routes.slice(0, routes.indexOf(route)).filter((each) => each.method === route.method).length;
}

function operationOf(route: Route, { definitions, index }: { definitions: Definitions; index: number }): JsonObject {
  const { method, template, body } = route;
  const inPath = template.variables.map((variable) => variable.fieldPath.join("."));
  const parameters: JsonObject[] = inPath.map((name) => ({ name, in: "path", required: true, type: "string" }));
  switch (body.kind) {
    case "whole":
      parameters.push({ name: "body", in: "body", required: true, schema: definitions.refer(method.input) });
      break;
    case "field":
      parameters.push({ name: "body", in: "body", required: true, schema: definitions.field(body.field) });
      break;
    case "none":
      break;
  }
  if (body.kind !== "whole") {
    const taken = new Set([...inPath, ...(body.kind === "field" ? [body.field.name] : [])]);
    parameters.push(...queryParameters(method.input, { prefix: "", taken, ancestors: [], definitions }));
  }
  return {
    operationId: `${method.parent.name}_${method.name}${index === 0 ? "" : index + 1}`,
    tags: [method.parent.name],
    parameters,
    responses: {
      "200": { description: "The call succeeded.", schema: definitions.refer(method.output) },
      default: { description: "The call failed.", schema: { $ref: "#/definitions/rpcStatus" } },
    },
  };
}

interface QueryScope {
  readonly prefix: string;
  readonly taken: ReadonlySet<string>;
  /** Enclosing messages: a field that refers back to one of them is omitted. */
  readonly ancestors: readonly DescMessage[];
  readonly definitions: Definitions;
}

function queryParameters(message: DescMessage, scope: QueryScope): JsonObject[] {
  const { prefix, taken, ancestors, definitions } = scope;
  return message.fields.flatMap((field): JsonObject[] => {
    const name = `${prefix}${field.name}`;
    if (taken.has(name) || field.fieldKind === "map") return [];
    const plain = field.message && !hasTextForm(field.message) ? undefined : definitions.field(field);
    if (plain)
      return [{ name, in: "query", required: false, ...(field.fieldKind === "list" ? { collectionFormat: "multi" } : {}), ...plain }];
    if (field.fieldKind !== "message" || ancestors.includes(field.message) || field.message === message) return [];
    return queryParameters(field.message, { ...scope, prefix: `${name}.`, ancestors: [...ancestors, message] });
  });
}

function hasTextForm(message: DescMessage): boolean {
  return isWrapperDesc(message) || message.typeName === "google.protobuf.Timestamp" || message.typeName === "google.protobuf.Duration";
}

/** Collects the messages and enums that the operations use, each once. */
class Definitions {
  readonly #found = new Map<string, JsonObject>([
    [
      "rpcStatus",
      {
        type: "object",
        properties: {
          code: { type: "integer", format: "int32" },
          message: { type: "string" },
          details: { type: "array", items: { type: "object", properties: { "@type": { type: "string" } } } },
        },
      },
    ],
  ]);

  all(): JsonObject {
    return Object.fromEntries([...this.#found].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  field(field: DescField): JsonObject {
    const one = field.message ? this.refer(field.message) : field.enum ? this.#enum(field.enum) : scalarSchema(field.scalar);
    switch (field.fieldKind) {
      case "list":
        return { type: "array", items: one };
      case "map":
        return { type: "object", additionalProperties: one };
      case "message":
      case "enum":
      case "scalar":
        return one;
    }
  }

  refer(message: DescMessage): JsonObject {
    const known = wellKnown(message);
    if (known) return known;
    const key = keyOf(message);
    if (!this.#found.has(key)) {
      const properties: Record<string, JsonValue> = {};
      this.#found.set(key, { type: "object", properties });
      for (const field of message.fields) properties[field.name] = this.field(field);
    }
    return { $ref: `#/definitions/${key}` };
  }

  #enum(desc: DescEnum): JsonObject {
    return { type: "string", enum: desc.values.map((value) => value.name), default: desc.values[0]?.name ?? "" };
  }
}

/** Formats `flyteidl.admin.Task` as `adminTask`. */
function keyOf(message: DescMessage): string {
  const packages = message.file.proto.package;
  const scope = packages.slice(packages.lastIndexOf(".") + 1);
  return `${scope}${message.typeName.slice(packages.length + 1).replaceAll(".", "")}`;
}

function wellKnown(message: DescMessage): JsonObject | undefined {
  if (isWrapperDesc(message)) return scalarSchema(message.fields[0]?.scalar ?? ScalarType.STRING);
  switch (message.typeName) {
    case "google.protobuf.Timestamp":
      return { type: "string", format: "date-time" };
    case "google.protobuf.Duration":
    case "google.protobuf.FieldMask":
      return { type: "string" };
    case "google.protobuf.Struct":
    case "google.protobuf.Any":
      return { type: "object" };
    case "google.protobuf.Value":
      return {};
    case "google.protobuf.ListValue":
      return { type: "array", items: {} };
    default:
      return undefined;
  }
}

function scalarSchema(type: ScalarType): JsonObject {
  switch (type) {
    case ScalarType.STRING:
      return { type: "string" };
    case ScalarType.BYTES:
      return { type: "string", format: "byte" };
    case ScalarType.BOOL:
      return { type: "boolean" };
    case ScalarType.FLOAT:
      return { type: "number", format: "float" };
    case ScalarType.DOUBLE:
      return { type: "number", format: "double" };
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return { type: "integer", format: "int32" };
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return { type: "integer", format: "int64" };
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return { type: "string", format: "int64" };
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return { type: "string", format: "uint64" };
  }
}
