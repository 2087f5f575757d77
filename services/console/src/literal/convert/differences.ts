import { type FormValue, isDateTime, isObject, isUnion } from "../form-value.js";
import type { FieldType } from "../type/field-type.js";

/** A value that differs from the one with which the form began. */
export interface Difference {
  readonly path: string;
  /** Short texts; undefined for what has none. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

const MAX_TEXT = 24;

/** Lists what differs between two values, field by field. */
export function differences(
  type: FieldType,
  before: FormValue | undefined,
  after: FormValue | undefined,
  path: string,
): readonly Difference[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (type.kind === "object" && isObject(before) && isObject(after))
    return type.fields().flatMap(({ name, type: field }) => differences(field, before.fields[name], after.fields[name], `${path}.${name}`));
  if (type.kind === "union" && isUnion(before) && isUnion(after) && before.variant === after.variant) {
    const variant = type.variants[after.variant]?.type;
    if (variant !== undefined) return differences(variant, before.value, after.value, path);
  }
  return [{ path, before: shortText(before), after: shortText(after) }];
}

function shortText(value: FormValue | undefined): string | undefined {
  if (value === undefined) return "no value";
  if (value === null) return "none";
  if (typeof value === "boolean") return String(value);
  if (isUnion(value)) return shortText(value.value);
  const text = isDateTime(value) ? value.at : typeof value === "string" ? value : undefined;
  return text === undefined || text.length > MAX_TEXT ? undefined : text === "" ? "empty" : text;
}
