import type { LiteralJson } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { LiteralTypeJson } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { isGiven } from "../format/given.js";
import { plainData } from "../literal/convert/plain-data.js";
import { structData } from "../literal/convert/struct-data.js";
import { type Data, isDataList, isDataObject } from "../literal/data/data.js";
import { formatFloat } from "../literal/scalar/number.js";
import type { FieldType } from "../literal/type/field-type.js";

/** flytectl reads times and durations as Go writes them. */
const FORMS = { dateTime: (json: string) => json, duration: (json: string) => json };

/**
 * Returns the value of an input as flytectl's file has it; undefined when flytectl makes another
 * literal of it.
 */
export function flytectlData(type: FieldType, literal: LiteralJson): Data | undefined {
  return isKept(type, literal) ? plainData(literal, FORMS) : undefined;
}

/** Reports whether flytectl makes the same literal of its data. */
function isKept(type: FieldType, literal: LiteralJson): boolean {
  const struct = structData(literal);
  // It writes the numbers of YAML as floating-point numbers.
  if (struct !== undefined) return struct.encoding === "msgpack" && !hasWholeNumber(struct.data);
  const { collection, map, scalar } = literal;
  if (isGiven(collection)) return (collection.literals ?? []).every((each) => isKept(itemOf(type), each));
  if (isGiven(map)) return Object.values(map.literals ?? {}).every((each) => isKept(itemOf(type), each));
  const { union, primitive } = scalar ?? {};
  if (isGiven(primitive?.stringValue)) return !/^[ \n\t]|[ \n\t]$/.test(primitive.stringValue);
  return !isGiven(union?.value) || isFirstVariant(type, union.value, union.type);
}

const itemOf = (type: FieldType): FieldType => (type.kind === "list" ? type.item : type.kind === "map" ? type.value : type);

/** It takes the first variant of a union into which it can convert the data. */
function isFirstVariant(type: FieldType, value: LiteralJson, chosen: LiteralTypeJson | undefined): boolean {
  if (type.kind !== "union") return false;
  const data = plainData(value, FORMS);
  const first = data === undefined ? undefined : type.variants.find((variant) => isConvertible(variant.type, data));
  return first !== undefined && JSON.stringify(first.literalType) === JSON.stringify(chosen) && isKept(first.type, value);
}

const WHOLE = /^[+-]?\d+$/;
const NUMBER = /^[+-]?(\d[\d_]*\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?|0x[\da-f.]+p[+-]?\d+|inf(inity)?|nan)$/i;
const BOOLEAN = /^(1|t|T|TRUE|true|True|0|f|F|FALSE|false|False)$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const DURATION = /^[+-]?(0|(\d+(\.\d*)?(ns|us|µs|ms|s|m|h))+)$/;

function isConvertible(type: FieldType, data: Data): boolean {
  const text = textOf(data);
  switch (type.kind) {
    case "integer":
      return WHOLE.test(text);
    case "float":
      return NUMBER.test(text);
    case "boolean":
      return BOOLEAN.test(text);
    case "datetime":
      return TIME.test(text);
    case "duration":
      return DURATION.test(text);
    case "enum":
      return typeof data === "string" && type.values.some((value) => value.text === data);
    case "list":
      return isDataList(data) && data.every((each) => isConvertible(type.item, each));
    case "map":
      return isDataObject(data) && Object.values(data).every((each) => isConvertible(type.value, each));
    case "union":
      return type.variants.some((variant) => isConvertible(variant.type, data));
    default:
      // It takes anything as text, as an address, as a struct and as none.
      return true;
  }
}

/** Formats data as Go does, as far as its parsers tell the texts apart. */
function textOf(data: Data): string {
  if (data === null) return "";
  if (isDataList(data) || isDataObject(data)) return "[]";
  return typeof data === "number" ? formatFloat(data).replace(/\.0$/, "") : String(data).trim();
}

function hasWholeNumber(data: Data): boolean {
  if (typeof data === "bigint") return true;
  const parts = isDataList(data) ? data : isDataObject(data) ? Object.values(data) : [];
  return parts.some(hasWholeNumber);
}
