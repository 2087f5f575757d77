import { type DescMethod, getOption, hasOption, type JsonObject, type JsonValue, type Message, toJson } from "@bufbuild/protobuf";
import { http } from "@flyte-ts/idl/google/api/annotations_pb";
import type { HttpRule } from "@flyte-ts/idl/google/api/http_pb";

/** A REST request. */
export interface RestCall {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
}

/** Calls for each of a method's HTTP annotations; none when it has no route. */
export function restCalls(method: DescMethod, message: Message): RestCall[] {
  if (!hasOption(method, http)) return [];
  const rule = getOption(method, http);
  const json = toJson(method.input, message, { useProtoFieldName: true }) as JsonObject;
  return [rule, ...rule.additionalBindings].map((binding) => restCall(binding, json));
}

function restCall({ pattern, body }: HttpRule, json: JsonObject): RestCall {
  const template = typeof pattern.value === "string" ? pattern.value : "";
  const used = new Set<string>();
  const path = template.replace(/\{([^}=]+)[^}]*\}/g, (_: string, name: string) => {
    used.add(name);
    return encodeURIComponent(textAt(json, name));
  });
  const query = new URLSearchParams();
  if (body === "") {
    for (const [key, value] of Object.entries(json)) if (typeof value === "string" && !used.has(key)) query.set(key, value);
  }
  return {
    method: (pattern.case ?? "get").toUpperCase(),
    path: query.size === 0 ? path : `${path}?${query.toString()}`,
    body: body === "" ? undefined : JSON.stringify(body === "*" ? json : json[body]),
  };
}

/** Text at a dotted path; default 0, which numbers and enums accept. */
function textAt(json: JsonValue | undefined, path: string): string {
  let value = json;
  for (const part of path.split("."))
    value = typeof value === "object" && value !== null && !Array.isArray(value) ? value[part] : undefined;
  return typeof value === "string" ? value : "0";
}
