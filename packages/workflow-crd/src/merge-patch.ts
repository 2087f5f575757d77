import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/**
 * JSON merge patch (RFC 7386) that turns `from` into `to`; `{}` when they are equal.
 * Fields of `to` that are null or undefined are taken as absent, since a merge patch
 * cannot set null. Neither argument is changed, and the patch may share parts of `to`.
 */
export function mergePatch(from: JsonObject, to: JsonObject): JsonObject {
  const patch: JsonObject = {};
  for (const key of Object.keys(from)) {
    if (isAbsent(own(to, key)) && !isAbsent(own(from, key))) set(patch, key, null);
  }
  for (const key of Object.keys(to)) {
    const [before, after] = [own(from, key), own(to, key)];
    if (isAbsent(after)) continue;
    if (isObject(before) && isObject(after)) {
      const inner = mergePatch(before, after);
      if (Object.keys(inner).length > 0) set(patch, key, inner);
    } else if (!equal(before, after)) {
      set(patch, key, isObject(after) ? withoutNulls(after) : after);
    }
  }
  return patch;
}

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

function isAbsent(value: JsonValue | undefined): value is null | undefined {
  return value === null || value === undefined;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function withoutNulls(object: JsonObject): JsonObject {
  return mergePatch({}, object);
}

function equal(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, index) => equal(item, b[index]));
  if (!isObject(a) || !isObject(b)) return a === b;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => equal(own(a, key), own(b, key)));
}
