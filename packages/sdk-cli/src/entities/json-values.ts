import { fileURLToPath } from "node:url";
import type { Interface } from "@flyte-ts/sdk/runtime";

type Fields = Interface["inputs"];
type AnyType = Fields[string];

/** Parts of types that hold others, as far as they are there. */
interface TypeParts {
  readonly element?: AnyType;
  readonly inner?: AnyType;
  readonly fields?: Fields;
  readonly columns?: Fields;
}

/**
 * Converts JSON to the values that tasks receive: texts to dates, durations and files where a type
 * asks for them. All else stays as it is, and is checked when it is encoded.
 */
export function valuesFromJson(fields: Fields, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(values).map(([name, value]) => {
    const type = fields[name];
    return [name, type === undefined ? value : fromJson(type, value)] as const;
  });
  return Object.fromEntries(entries);
}

function fromJson(type: AnyType, value: unknown): unknown {
  const { element, inner, fields, columns } = type as AnyType & TypeParts;
  if (value === null || value === undefined) return value;
  if (inner !== undefined) return fromJson(inner, value);
  if (element !== undefined && Array.isArray(value)) return value.map((item) => fromJson(element, item));
  if (element !== undefined && typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fromJson(element, item)]));
  if (fields !== undefined && isRecord(value)) return valuesFromJson(fields, value);
  if (columns !== undefined && Array.isArray(value))
    return value.map((row: unknown) => (isRecord(row) ? valuesFromJson(columns, row) : row));
  if (typeof value !== "string") return value;
  switch (type.kind) {
    case "datetime":
      return new Date(value);
    case "bigint":
      return /^-?\d+$/.test(value) ? BigInt(value) : value;
    case "bytes":
      return Buffer.from(value, "base64");
    case "file":
    case "directory":
      if (value.startsWith("file://")) return { path: fileURLToPath(value) };
      return /^[a-z][a-z0-9+]*:\/\//.test(value) ? { uri: value } : { path: value };
    case "float":
      return ["NaN", "Infinity", "-Infinity"].includes(value) ? Number(value) : value;
    default:
      return value;
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null;
