import type { AnyType, Described } from "@flyte-ts/sdk/runtime";

/** Writes a type as source text in the words of the SDK. */
export function writeType(type: AnyType): string {
  // The kind tells the shape; the SDK makes no other types.
  const shown = type as Described;
  switch (shown.kind) {
    case "list":
      return `t.list(${writeType(shown.element)})`;
    case "map":
      return `t.map(${writeType(shown.element)})`;
    case "optional":
      return `t.optional(${writeType(shown.inner)})`;
    case "default":
      return `t.default(${writeType(shown.inner)}, ${writeValue(shown.value)})`;
    case "union":
      return `t.union(${shown.members.map(writeType).join(", ")})`;
    case "enum":
      return `t.enum(${shown.names.map(writeValue).join(", ")})`;
    case "file":
    case "directory":
      return `t.${shown.kind}(${shown.format === "" ? "" : writeValue(shown.format)})`;
    case "dataset":
      return Object.keys(shown.columns).length === 0 ? "t.dataset()" : `t.dataset(${writeFields(shown.columns)})`;
    case "object":
      return `t.object(${writeFields(shown.fields)}${shown.title === "Object" ? "" : `, { title: ${writeValue(shown.title)} }`})`;
    case "opaque":
      return `t.opaque(${JSON.stringify(shown.literalType)}, ${writeValue(shown.reason)})`;
    case "schema":
      return "t.json";
    default:
      return `t.${shown.kind}`;
  }
}

/** Writes fields as an object literal. */
export function writeFields(fields: Readonly<Record<string, AnyType>>): string {
  const entries = Object.entries(fields).map(([name, type]) => `${writeName(name)}: ${writeType(type)}`);
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}

const writeName = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

/** Writes a value of JSON, a time, bytes, or the address of a file. */
function writeValue(value: unknown): string {
  if (value instanceof Date) return `new Date(${JSON.stringify(value)})`;
  if (value instanceof Uint8Array) return `Uint8Array.of(${value.join(", ")})`;
  if (Array.isArray(value)) return `[${value.map(writeValue).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "undefined";
  const entries = "uri" in value ? [["uri", value.uri] as const] : Object.entries(value);
  return `{${entries.map(([name, item]) => `${JSON.stringify(name)}:${writeValue(item)}`).join(",")}}`;
}
