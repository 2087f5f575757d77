import { create, type DescMessage, type Message } from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { Code } from "../../code.js";
import { RpcError } from "../../rpc-error.js";
import { bindField, findField } from "./bind-text.js";
import type { Codec } from "../json/codec.js";
import type { ParsedQuery } from "./request-path.js";
import type { Matched } from "./route-table.js";
import { TextError } from "../json/scalar-text.js";

export interface HttpInput {
  readonly codec: Codec;
  readonly body: Uint8Array;
  readonly query: ParsedQuery;
}

/**
 * Builds the request message of a route: its body, overridden by the path's values, then the query.
 */
export function bindRequest({ route, values }: Matched, { codec, body, query }: HttpInput): Message {
  const schema = route.method.input;
  const message = reflect(schema, (route.body.kind === "whole" ? readBody(codec, schema, body) : undefined) ?? create(schema));
  if (route.body.kind === "field" && route.body.field.message) {
    const inner = readBody(codec, route.body.field.message, body);
    if (inner) message.set(route.body.field, reflect(route.body.field.message, inner));
  }
  for (const { fieldPath, text } of values) {
    bind(() => bindField(message, fieldPath, [text]), `parameter ${fieldPath.join(".")}: `);
  }
  if (route.body.kind !== "whole") {
    const taken = [...values.map((value) => value.fieldPath), ...(route.body.kind === "field" ? [[route.body.field.name]] : [])];
    bindQuery(message, query, taken);
  }
  return message.message;
}

function readBody(codec: Codec, schema: DescMessage, body: Uint8Array): Message | undefined {
  try {
    return codec.read(schema, body);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RpcError(Code.INVALID_ARGUMENT, `proto: body is not a valid ${schema.typeName}: ${reason}`, { cause: error });
  }
}

/**
 * Sets fields from query parameters by path; `map[key]=value` sets an entry. Fields set by the path
 * or the body are skipped.
 */
function bindQuery(message: ReflectMessage, query: ParsedQuery, taken: readonly (readonly string[])[]): void {
  for (const [parameter, texts] of query) {
    const { field, entryKey } = splitEntry(parameter);
    const path = protoNames(message.desc, field.split("."));
    if (taken.some((prefix) => prefix.every((name, index) => path[index] === name))) continue;
    bind(() => bindField(message, path, entryKey === undefined ? texts : [entryKey, ...texts]), "");
  }
}

/** Splits `map[key]` at its last opening bracket. */
function splitEntry(parameter: string): { readonly field: string; readonly entryKey: string | undefined } {
  const open = parameter.endsWith("]") ? parameter.lastIndexOf("[") : -1;
  return open < 0
    ? { field: parameter, entryKey: undefined }
    : { field: parameter.slice(0, open), entryKey: parameter.slice(open + 1, -1) };
}

/** Replaces JSON names in a path by the proto names. */
function protoNames(schema: DescMessage, path: readonly string[]): string[] {
  let current: DescMessage | undefined = schema;
  return path.map((name) => {
    const field = current && findField(current, name);
    current = field?.message;
    return field?.name ?? name;
  });
}

function bind(set: () => boolean, where: string): void {
  try {
    set();
  } catch (error) {
    if (error instanceof TextError) throw new RpcError(Code.INVALID_ARGUMENT, `${where}${error.message}`, { cause: error });
    throw error;
  }
}
