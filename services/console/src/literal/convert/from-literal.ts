import type { LiteralJson, PrimitiveJson, ScalarJson } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { LiteralTypeJson } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { isGiven } from "../../format/given.js";
import type { FormValue } from "../form-value.js";
import { dateTimeValue } from "../scalar/date-time.js";
import { durationFromJson, formatDurationNs } from "../scalar/duration.js";
import { formatFloat } from "../scalar/number.js";
import type { FieldType, UnionVariant } from "../type/field-type.js";
import { fromData } from "./from-data.js";
import { formatRaw, withoutUnset } from "./raw-literal.js";
import { structData } from "./struct-data.js";
import { formatDataLines } from "../data/json-text.js";

/**
 * Returns a literal as a form of its type holds it, so that converting it back gives the same
 * literal; as raw JSON where the type has no such value.
 */
export function fromLiteral(type: FieldType, literal: LiteralJson, zone = "UTC"): FormValue {
  const value = fitLiteral(type, literal, zone);
  // `null` is the value of the type none.
  return value === undefined ? { raw: formatRaw(literal) } : value;
}

/** Returns a literal as a form holds it; undefined where it does not fit the type. */
function fitLiteral(type: FieldType, literal: LiteralJson, zone: string): FormValue | undefined {
  // A hash replaces the value in the key of the cache: it stays with its literal.
  const { hash, metadata } = withoutUnset(literal);
  if (hash !== undefined || metadata !== undefined) return undefined;
  const { collection, map, scalar } = literal;
  if (type.kind === "union") return unionOf(type.variants, literal, zone);
  if (isGiven(collection))
    return type.kind === "list" ? { items: (collection.literals ?? []).map((each) => fromLiteral(type.item, each, zone)) } : undefined;
  if (isGiven(map)) {
    if (type.kind !== "map") return undefined;
    return { entries: Object.entries(map.literals ?? {}).map(([key, each]) => ({ key, value: fromLiteral(type.value, each, zone) })) };
  }
  if (!isGiven(scalar)) return undefined;
  if (type.kind === "object" || type.kind === "struct") return structOf(type, literal);
  if (isGiven(scalar.primitive)) return primitiveOf(type, scalar.primitive, zone);
  return scalarOf(type, scalar);
}

function primitiveOf(type: FieldType, primitive: PrimitiveJson, zone: string): FormValue | undefined {
  const { integer, floatValue, stringValue, boolean, datetime, duration } = primitive;
  switch (type.kind) {
    case "integer":
      return isGiven(integer) ? String(integer) : undefined;
    case "float":
      return isGiven(floatValue) ? formatFloat(Number(floatValue)) : undefined;
    case "string":
      return isGiven(stringValue) ? stringValue : undefined;
    case "boolean":
      return isGiven(boolean) ? boolean : undefined;
    case "datetime":
      return isGiven(datetime) ? dateTimeValue(datetime, zone) : undefined;
    case "duration": {
      const ns = isGiven(duration) ? durationFromJson(duration) : undefined;
      return ns === undefined ? undefined : formatDurationNs(ns);
    }
    case "enum":
      return type.values.find(({ data, text }) => (typeof data === "bigint" ? String(integer) === text : stringValue === text))?.text;
    default:
      return undefined;
  }
}

function scalarOf(type: FieldType, { noneType, blob, structuredDataset, schema, error }: ScalarJson): FormValue | undefined {
  switch (type.kind) {
    case "none":
      return isGiven(noneType) ? null : undefined;
    case "error":
      return isGiven(error) ? { message: error.message ?? "", failedNode: error.failedNodeId ?? "" } : undefined;
    case "blob": {
      const { format = "", dimensionality = "SINGLE" } = blob?.metadata?.type ?? {};
      return isGiven(blob) && (dimensionality === "MULTIPART") === type.directory ? { address: blob.uri ?? "", format } : undefined;
    }
    case "dataset": {
      const { format = "", ...columns } = structuredDataset?.metadata?.structuredDatasetType ?? {};
      return isGiven(structuredDataset) ? { address: structuredDataset.uri ?? "", format, columns } : undefined;
    }
    case "schema":
      return isGiven(schema) ? { address: schema.uri ?? "", format: "", columns: schema.type ?? {} } : undefined;
    default:
      return undefined;
  }
}

function structOf(type: Extract<FieldType, { kind: "object" | "struct" }>, literal: LiteralJson): FormValue | undefined {
  const struct = structData(literal);
  if (struct === undefined) return undefined;
  // An object that another release of flytekit wrote is written anew in the form of the type.
  const value = fromData(type, struct.encoding === "struct" ? numbersOf(type, struct.data) : struct.data);
  if (value === undefined) return { json: formatDataLines(struct.data) };
  return value;
}

/** A struct has floats alone: whole ones become floats where the schema has them. */
function numbersOf(type: FieldType, data: Parameters<typeof fromData>[1]): Parameters<typeof fromData>[1] {
  if (type.kind === "float" && typeof data === "bigint") return Number(data);
  if (type.kind === "list" && Array.isArray(data)) return data.map((each: typeof data) => numbersOf(type.item, each));
  if (typeof data !== "object" || data === null || Array.isArray(data)) return data;
  if (type.kind === "map") return Object.fromEntries(Object.entries(data).map(([key, each]) => [key, numbersOf(type.value, each)]));
  if (type.kind !== "object") return data;
  const types = new Map(type.fields().map((field) => [field.name, field.type]));
  return Object.fromEntries(Object.entries(data).map(([key, each]) => [key, numbersOf(types.get(key) ?? { kind: "json" }, each)]));
}

/** Takes the variant that the literal names; of a plain literal, the first one that it fits. */
function unionOf(variants: readonly UnionVariant[], literal: LiteralJson, zone: string): FormValue | undefined {
  const union = literal.scalar?.union;
  const value = isGiven(union) ? union.value : literal;
  if (!isGiven(value)) return undefined;
  const named = isGiven(union?.type) ? variants.findIndex(({ literalType }) => isSameType(literalType, union.type)) : -1;
  const order = named >= 0 ? [named] : [...variants.keys()];
  for (const variant of order) {
    const type = variants[variant]?.type;
    const fitted = type && fitLiteral(type, value, zone);
    if (fitted !== undefined) return { variant, value: fitted };
  }
  return undefined;
}

function isSameType(a: LiteralTypeJson | undefined, b: LiteralTypeJson | undefined): boolean {
  return comparable(a) === comparable(b);
}

/** Text of a type without fields that are not set; the tag of its structure tells unions apart. */
function comparable(type: LiteralTypeJson | undefined): string {
  return JSON.stringify(type ?? {}, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(
          Object.entries(value)
            .filter(([name, each]) => isGiven(each) && each !== "" && name !== "annotation" && name !== "metadata")
            .toSorted(([left], [right]) => (left < right ? -1 : 1)),
        )
      : value,
  );
}
