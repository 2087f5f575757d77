import type { Data } from "../data/data.js";
import type { FormValue } from "../form-value.js";
import type { FieldType } from "../type/field-type.js";
import { formOrJson } from "./from-data.js";

/** Returns the value with which a form of a type begins, such as a new item of a list. */
export function startValue(type: FieldType, zone = "UTC"): FormValue {
  switch (type.kind) {
    case "boolean":
      return false;
    case "none":
      return null;
    case "datetime":
      return { at: "", zone };
    case "enum":
      return type.values[0]?.text ?? "";
    case "list":
      return { items: [] };
    case "map":
      return { entries: [] };
    case "union":
      return startUnion(type, zone);
    case "object":
      return {
        fields: Object.fromEntries(
          type.fields().flatMap(({ name, type: field, required, fallback }) => {
            const value = startField(field, required, fallback, zone);
            return value === undefined ? [] : [[name, value]];
          }),
        ),
      };
    case "blob":
    case "dataset":
      return { address: "", format: type.format };
    case "schema":
      return { address: "", format: "" };
    case "error":
      return { message: "", failedNode: "" };
    case "struct":
      return "{}";
    case "json":
      return "null";
    default:
      return "";
  }
}

/** A field begins with its default, a needed one with what most values of its type begin with. */
function startField(type: FieldType, required: boolean, fallback: Data | undefined, zone: string): FormValue | undefined {
  if (fallback !== undefined) return formOrJson(type, fallback);
  if (!required) return undefined;
  return beginsEmpty(type) ? undefined : startValue(type, zone);
}

/** Returns the value with which an input begins that has no default; undefined for none. */
export function startInput(type: FieldType, zone: string): FormValue | undefined {
  return beginsEmpty(type) ? undefined : startValue(type, zone);
}

/** A union with none begins with none, another one with its first variant. */
function startUnion({ variants }: Extract<FieldType, { kind: "union" }>, zone: string): FormValue {
  const none = variants.findIndex(({ type }) => type.kind === "none");
  const variant = Math.max(0, none);
  const type = variants[variant]?.type;
  return { variant, value: type === undefined ? null : startValue(type, zone) };
}

/** Nothing can be assumed of these: an empty text is a value, too. */
function beginsEmpty(type: FieldType): boolean {
  if (type.kind === "union") return !type.variants.some((variant) => variant.type.kind === "none");
  return [
    "integer",
    "float",
    "string",
    "datetime",
    "duration",
    "enum",
    "json",
    "struct",
    "error",
    "raw",
    "blob",
    "dataset",
    "schema",
  ].includes(type.kind);
}
