import type { LiteralJson } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { isGiven } from "../../format/given.js";
import { withoutUnset } from "./raw-literal.js";
import { structData } from "./struct-data.js";
import type { Data } from "../data/data.js";

/** How clients take values that JSON has no form for. */
export interface PlainForms {
  dateTime(json: string): Data | undefined;
  duration(json: string): Data | undefined;
}

/** Returns a literal as data that clients take by the type of the input; undefined for none. */
export function plainData(literal: LiteralJson, forms: PlainForms): Data | undefined {
  const { collection, map, scalar, hash, metadata } = withoutUnset(literal);
  if (hash !== undefined || metadata !== undefined) return undefined;
  if (isGiven(collection)) {
    const items = (collection.literals ?? []).map((each) => plainData(each, forms));
    return items.includes(undefined) ? undefined : (items as readonly Data[]);
  }
  if (isGiven(map)) {
    const entries = Object.entries(map.literals ?? {}).map(([key, each]) => [key, plainData(each, forms)] as const);
    return entries.some(([, each]) => each === undefined) ? undefined : (Object.fromEntries(entries) as Record<string, Data>);
  }
  const { primitive, blob, structuredDataset, schema, noneType, union } = scalar ?? {};
  if (isGiven(union?.value)) return plainData(union.value, forms);
  if (isGiven(noneType)) return null;
  if (isGiven(blob)) return blob.uri ?? "";
  if (isGiven(structuredDataset)) return structuredDataset.uri ?? "";
  if (isGiven(schema)) return schema.uri ?? "";
  if (!isGiven(primitive)) return structData(literal)?.data;
  const { integer, floatValue, stringValue, boolean, datetime, duration } = primitive;
  if (isGiven(integer)) return BigInt(integer);
  if (isGiven(floatValue)) return Number(floatValue);
  if (isGiven(datetime)) return forms.dateTime(datetime);
  if (isGiven(duration)) return forms.duration(duration);
  return isGiven(boolean) ? boolean : (stringValue ?? "");
}
