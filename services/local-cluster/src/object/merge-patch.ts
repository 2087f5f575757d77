import { type Json, type JsonObject, isObject } from "./model.js";

/**
 * Applies a merge patch (RFC 7396). Untouched parts keep their identity, so that a change deep in a
 * large object costs only its path, and `diff` recognizes unchanged parts at once.
 */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const base: JsonObject = isObject(target) ? target : {};
  let result: Record<string, Json | undefined> | undefined;
  for (const key of Object.keys(patch)) {
    // Assigning __proto__ would change the prototype.
    if (key === "__proto__") continue;
    const value = patch[key] as Json;
    const old = base[key];
    if (value === null) {
      if (!(key in base)) continue;
      result ??= { ...base };
      delete result[key];
      continue;
    }
    const next = mergePatch(old, value);
    if (next === old) continue;
    result ??= { ...base };
    result[key] = next;
  }
  return result ?? (isObject(target) ? target : base);
}

/** Marks a difference that RFC 7396 cannot express: a null inside an object. */
export const NOT_REPRESENTABLE = Symbol("not representable as a merge patch");

/** Computes the merge patch from `before` to `after`; undefined when they are equal. */
export function diff(before: JsonObject, after: JsonObject): JsonObject | undefined | typeof NOT_REPRESENTABLE {
  const patch: Record<string, Json> = {};
  let changed = false;
  const keys = Object.keys(after);
  let kept = 0;
  for (const key of keys) {
    const next = after[key];
    const old = before[key];
    if (old !== undefined && next !== undefined) kept++;
    if (next === old || next === undefined) continue;
    if (key === "__proto__") return NOT_REPRESENTABLE;
    if (isObject(next) && isObject(old)) {
      const inner = diff(old, next);
      if (inner === undefined) continue;
      if (inner === NOT_REPRESENTABLE) return inner;
      patch[key] = inner;
    } else {
      if (Array.isArray(next) && Array.isArray(old) && equalJson(next, old)) continue;
      if (containsNull(next)) return NOT_REPRESENTABLE;
      patch[key] = next;
    }
    changed = true;
  }
  const oldKeys = Object.keys(before);
  if (kept === oldKeys.length) return changed ? patch : undefined;
  for (const key of oldKeys) {
    if (before[key] === undefined || after[key] !== undefined) continue;
    patch[key] = null;
    changed = true;
  }
  return changed ? patch : undefined;
}

/** True when a merge patch with this value would lose a null. Nulls within lists are kept. */
function containsNull(value: Json): boolean {
  if (value === null) return true;
  return isObject(value) && Object.values(value).some((v) => v !== undefined && containsNull(v));
}

export function equalJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && (a as readonly Json[]).every((v, i) => equalJson(v, (b as readonly Json[])[i]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => key in b && equalJson(a[key], b[key]));
}

/**
 * Returns `next` with all parts that equal those of `before` replaced by them, so that equal parts
 * share memory and text.
 */
export function structuralShare<T extends Json>(before: Json | undefined, next: T): T {
  if (before === next) return next;
  if (Array.isArray(next)) return equalJson(before, next) ? (before as T) : next;
  if (!isObject(next) || !isObject(before)) return next;
  const result: Record<string, Json | undefined> = {};
  let same = Object.keys(before).length === Object.keys(next).length;
  for (const key of Object.keys(next)) {
    const value = next[key];
    const shared = value === undefined ? undefined : structuralShare(before[key], value);
    if (shared !== before[key] || !(key in before)) same = false;
    if (key === "__proto__") return next;
    result[key] = shared;
  }
  return (same ? before : result) as T;
}
