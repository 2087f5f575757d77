import { type DescMethod, getOption, hasOption, type JsonObject, type JsonValue, type Message, toBinary, toJson } from "@bufbuild/protobuf";
import { http } from "@flyte-ts/idl/google/api/annotations_pb";
import type { HttpRule } from "@flyte-ts/idl/google/api/http_pb";

/** Content types of REST requests and responses. */
export const CONTENT_TYPES = ["application/json", "application/octet-stream"] as const;
export type ContentType = (typeof CONTENT_TYPES)[number];

/** An HTTP binding from the annotations of a method. */
export interface Binding {
  /** `GET /api/v1/…` with field names in braces. */
  readonly text: string;
  request(
    message: Message,
    form: ContentType,
  ): { readonly method: string; readonly path: string; readonly body: string | Uint8Array | undefined };
}

/** Lists all bindings of a method; none without an HTTP path. */
export function bindingsOf(method: DescMethod): Binding[] {
  if (!hasOption(method, http)) return [];
  const rule = getOption(method, http);
  return [rule, ...rule.additionalBindings].map((binding) => bindingOf(method, binding));
}

function bindingOf(method: DescMethod, { pattern, body: bodyField }: HttpRule): Binding {
  const template = typeof pattern.value === "string" ? pattern.value : "";
  const verb = (pattern.case ?? "get").toUpperCase();
  return {
    text: `${verb} ${template}`,
    request: (message, form) => {
      const json = toJson(method.input, message, { useProtoFieldName: true }) as JsonObject;
      const used = new Set<string>();
      const path = template.replace(/\{([^}=]+)[^}]*\}/g, (_: string, name: string) => {
        used.add(name);
        return encodeURIComponent(textOf(json, name));
      });
      const query = new URLSearchParams();
      if (bodyField === "") for (const [name, value] of leaves(json)) if (!used.has(name)) query.append(name, value);
      const content = bodyField === "*" ? json : (json[bodyField] ?? {});
      const encoded = form === "application/json" ? JSON.stringify(content) : toBinary(method.input, message);
      return { method: verb, path: query.size === 0 ? path : `${path}?${query.toString()}`, body: bodyField === "" ? undefined : encoded };
    },
  };
}

/**
 * Returns the text at a dotted path. Returns 0 for an unset field, because number and enum fields
 * accept it.
 */
function textOf(json: JsonValue | undefined, path: string): string {
  let value = json;
  for (const part of path.split(".")) value = isObject(value) ? value[part] : undefined;
  return value === undefined || value === null ? "0" : String(value as string | number);
}

function* leaves(json: JsonObject, prefix = ""): Generator<[string, string]> {
  for (const [key, value] of Object.entries(json)) {
    if (isObject(value)) yield* leaves(value, `${prefix}${key}.`);
    else if (!Array.isArray(value)) yield [`${prefix}${key}`, String(value)];
  }
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
