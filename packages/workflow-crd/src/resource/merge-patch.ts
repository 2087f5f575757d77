import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { ownField, setOwnField } from "./own-field.js";

/**
 * Applies a merge patch (RFC 7386); `target` is not changed and may share parts with the result.
 */
export function applyMergePatch(target: JsonValue, patch: JsonValue): JsonValue {
  if (!isObject(patch)) return patch;
  const result: JsonObject = isObject(target) ? { ...target } : {};
  for (const key of Object.keys(patch)) {
    const value = ownField(patch, key);
    if (value === null) delete result[key];
    else if (value !== undefined) setOwnField(result, key, applyMergePatch(ownField(result, key) ?? null, value));
  }
  return result;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
