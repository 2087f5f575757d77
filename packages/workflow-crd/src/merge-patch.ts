import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** `target` with a merge patch applied (RFC 7386); `target` stays as it is and may share parts with the result. */
export function applyMergePatch(target: JsonValue, patch: JsonValue): JsonValue {
  if (!isObject(patch)) return patch;
  const result: JsonObject = isObject(target) ? { ...target } : {};
  for (const key of Object.keys(patch)) {
    const value = own(patch, key);
    if (value === null) delete result[key];
    else if (value !== undefined) set(result, key, applyMergePatch(own(result, key) ?? null, value));
  }
  return result;
}

function own(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Assignment that makes an own property even of `__proto__`. */
function set(object: JsonObject, key: string, value: JsonValue): void {
  if (key === "__proto__") Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
