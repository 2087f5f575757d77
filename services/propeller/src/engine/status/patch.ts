import { ownField, setOwnField } from "@flyte-ts/workflow-crd";

type Json = Readonly<Record<string, unknown>>;

/**
 * JSON merge patch (RFC 7386) from `before` to `after`: null removes a field, objects are merged,
 * other values are replaced. Undefined when they are equal.
 */
export function mergeDiff(before: Json, after: Json): Record<string, unknown> | undefined {
  let patch: Record<string, unknown> | undefined;
  const put = (key: string, value: unknown): void => {
    patch ??= {};
    setOwnField(patch, key, value);
  };
  for (const key of Object.keys(before)) if (ownField(before, key) !== undefined && ownField(after, key) === undefined) put(key, null);
  for (const [key, value] of Object.entries(after)) {
    const old = ownField(before, key);
    if (value === undefined || value === old) continue;
    if (isObject(value) && isObject(old)) {
      const nested = mergeDiff(old, value);
      if (nested !== undefined) put(key, nested);
    } else put(key, value);
  }
  return patch;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
