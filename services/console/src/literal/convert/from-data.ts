import { type Data, isDataList, isDataObject } from "../data/data.js";
import { formatDataLines } from "../data/json-text.js";
import type { FormValue } from "../form-value.js";
import { formatFloat } from "../scalar/number.js";
import type { FieldType, ObjectType, UnionVariant } from "../type/field-type.js";

/**
 * Returns data as a form of its type holds it, so that converting it back gives the same data.
 * Undefined where the type has no such value.
 */
export function fromData(type: FieldType, data: Data): FormValue | undefined {
  switch (type.kind) {
    case "integer":
      return typeof data === "bigint" ? String(data) : undefined;
    case "float":
      return typeof data === "number" ? formatFloat(data) : undefined;
    case "string":
    case "datetime":
    case "duration":
      return typeof data === "string" ? data : undefined;
    case "boolean":
      return typeof data === "boolean" ? data : undefined;
    case "none":
      return data === null ? null : undefined;
    case "enum":
      return type.values.find((each) => each.data === data)?.text;
    case "list": {
      const items = isDataList(data) ? data.map((item) => formOrJson(type.item, item)) : undefined;
      return items && { items };
    }
    case "map": {
      const entries = isDataObject(data)
        ? Object.entries(data).map(([key, value]) => ({ key, value: formOrJson(type.value, value) }))
        : undefined;
      return entries && { entries };
    }
    case "union":
      return unionFromData(type.variants, data);
    case "object":
      return objectFromData(type, data);
    case "json":
      return formatDataLines(data);
    case "struct":
      return isDataObject(data) ? formatDataLines(data) : undefined;
    default:
      return undefined;
  }
}

/** Returns data as a form holds it; as JSON where it does not fit the type. */
export function formOrJson(type: FieldType, data: Data): FormValue {
  return fromData(type, data) ?? { json: formatDataLines(data) };
}

/** Takes the first variant that the data fit in every part. */
function unionFromData(variants: readonly UnionVariant[], data: Data): FormValue | undefined {
  const fitting = variants.flatMap(({ type }, variant) => {
    const value = fromData(type, data);
    return value === undefined ? [] : [{ variant, value }];
  });
  return fitting.find(({ value }) => !JSON.stringify(value).includes('"json":')) ?? fitting[0];
}

function objectFromData(type: ObjectType, data: Data): FormValue | undefined {
  if (!isDataObject(data)) return undefined;
  const fields = type.fields();
  const known = new Set(fields.map(({ name }) => name));
  // Further fields, and missing ones that are needed, stay as they are in JSON.
  if (Object.keys(data).some((name) => !known.has(name))) return undefined;
  if (fields.some(({ name, required }) => required && !Object.hasOwn(data, name))) return undefined;
  const values = fields.flatMap(({ name, type: field }) => {
    const each = data[name];
    return each === undefined ? [] : [[name, formOrJson(field, each)] as const];
  });
  return { fields: Object.fromEntries(values) };
}
