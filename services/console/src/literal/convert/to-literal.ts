import type { LiteralJson, PrimitiveJson, ScalarJson } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { isAddress, isDateTime, isErrorValue, isJson, isList, isRaw, isUnion, type FormValue } from "../form-value.js";
import { readDateTime } from "../scalar/date-time.js";
import { durationToJson, readDurationNs } from "../scalar/duration.js";
import { readFloat, readInteger } from "../scalar/number.js";
import type { FieldType } from "../type/field-type.js";
import { readRaw } from "./raw-literal.js";
import { structLiteral } from "./struct-data.js";
import { type Fail, join, type Problems, readEntries, take, textOf, toData } from "./to-data.js";

const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/\S|^\//i;

/**
 * Returns what a form holds of a value as a literal in the JSON form of REST. Adds to the problems
 * and returns undefined where it breaks a rule.
 */
export function toLiteral(type: FieldType, value: FormValue | undefined, path: string, problems: Problems): LiteralJson | undefined {
  const fail: Fail = (text, isEmpty = false) => void problems.push({ path, text, ...(isEmpty && { isEmpty }) });
  const scalar = (of: ScalarJson | undefined): LiteralJson | undefined => of && { scalar: of };
  const primitive = (of: PrimitiveJson | undefined): LiteralJson | undefined => scalar(of && { primitive: of });
  if (value === undefined) return fail("Needs a value.", true);
  if (isRaw(value)) return take(readRaw(value.raw), fail);
  switch (type.kind) {
    case "integer": {
      const integer = take(readInteger(textOf(value)), fail);
      return primitive(integer === undefined ? undefined : { integer: String(integer) });
    }
    case "float": {
      const number = take(readFloat(textOf(value)), fail);
      return primitive(number === undefined ? undefined : { floatValue: floatToJson(number) });
    }
    case "string":
      return primitive({ stringValue: textOf(value) });
    case "boolean":
      return primitive({ boolean: value === true });
    case "datetime": {
      const datetime = take(readDateTime(isDateTime(value) ? value : { at: "", zone: "UTC" }), fail);
      return primitive(datetime === undefined ? undefined : { datetime });
    }
    case "duration": {
      const ns = take(readDurationNs(textOf(value)), fail);
      return primitive(ns === undefined ? undefined : { duration: durationToJson(ns) });
    }
    case "none":
      return scalar({ noneType: {} });
    case "enum": {
      const found = type.values.find(({ text }) => text === value);
      if (found === undefined) return fail("Choose one of the values.", value === "");
      return primitive(typeof found.data === "bigint" ? { integer: String(found.data) } : { stringValue: found.text });
    }
    case "list": {
      const literals = (isList(value) ? value.items : []).map((item, index) => toLiteral(type.item, item, join(path, index), problems));
      return literals.includes(undefined) ? undefined : { collection: { literals: literals as LiteralJson[] } };
    }
    case "map": {
      const entries = readEntries(value, path, problems, (each, at) => toLiteral(type.value, each, at, problems));
      return entries && { map: { literals: Object.fromEntries(entries) } };
    }
    case "union": {
      const variant = isUnion(value) ? type.variants[value.variant] : undefined;
      if (variant?.literalType === undefined || !isUnion(value)) return fail("Choose a type.", true);
      const inner = toLiteral(variant.type, value.value, path, problems);
      return scalar(inner && { union: { value: inner, type: variant.literalType } });
    }
    case "object":
    case "struct": {
      const data = toData(type, isJson(value) || type.kind === "object" ? value : { json: textOf(value) }, path, problems);
      if (data === undefined) return undefined;
      const literal = structLiteral(data, type.encoding);
      return typeof literal === "string" ? fail(literal) : literal;
    }
    case "error":
      return isErrorValue(value) ? scalar({ error: { message: value.message, failedNodeId: value.failedNode } }) : fail("Needs a message.");
    case "blob":
    case "dataset":
    case "schema":
      return addressLiteral(type, value, fail);
    default:
      return take(readRaw(textOf(value)), fail);
  }
}

type AddressType = Extract<FieldType, { kind: "blob" | "dataset" | "schema" }>;

function addressLiteral(type: AddressType, value: FormValue, fail: Fail): LiteralJson | undefined {
  const { address, format, columns } = isAddress(value) ? value : { address: "", format: "", columns: undefined };
  const uri = address.trim();
  if (uri === "")
    return fail(
      type.kind === "blob"
        ? "Upload data, or write an address such as s3://bucket/data.csv."
        : "Write an address such as s3://bucket/table.",
      true,
    );
  if (!ADDRESS.test(uri)) return fail("Not an address: write it with its scheme, such as s3://bucket/data.csv.");
  if (type.kind === "blob")
    return { scalar: { blob: { metadata: { type: { format, dimensionality: type.directory ? "MULTIPART" : "SINGLE" } }, uri } } };
  if (type.kind === "schema") return { scalar: { schema: { uri, type: (columns as typeof type.type | undefined) ?? type.type } } };
  const structuredDatasetType = { ...((columns as typeof type.type | undefined) ?? type.type), format };
  return { scalar: { structuredDataset: { uri, metadata: { structuredDatasetType } } } };
}

/** JSON has texts for numbers that it cannot write. */
function floatToJson(value: number): number | "NaN" | "Infinity" | "-Infinity" {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}
