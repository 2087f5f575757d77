import type { SchemaTypeJson, StructuredDatasetTypeJson } from "@flyte-ts/idl/flyteidl/core/types_pb";

/** Value as a form holds it: texts as they were typed, so that a wrong one stays in its field. */
export type FormValue =
  /** Number, text, duration, enum, JSON. */
  | string
  | boolean
  /** None. */
  | null
  | DateTimeValue
  | ListValue
  | MapValue
  | UnionValue
  | ObjectValue
  | AddressValue
  | ErrorValue
  | RawValue
  | JsonValue;

export interface DateTimeValue {
  /** `2026-11-14 00:00:00`, or a time with its own offset. */
  readonly at: string;
  /** Zone of a time without an offset, by its IANA name. */
  readonly zone: string;
}

export interface ListValue {
  readonly items: readonly FormValue[];
}

export interface MapValue {
  readonly entries: readonly { readonly key: string; readonly value: FormValue }[];
}

export interface UnionValue {
  /** Index of the variant. */
  readonly variant: number;
  readonly value: FormValue;
}

/** Fields by name; a field that is left out is missing. */
export interface ObjectValue {
  readonly fields: Readonly<Record<string, FormValue>>;
}

/** Data elsewhere: a file, a directory, a table. */
export interface AddressValue {
  readonly address: string;
  readonly format: string;
  /** Type of a table that another execution made, where it says more than that of the input. */
  readonly columns?: StructuredDatasetTypeJson | SchemaTypeJson;
}

export interface ErrorValue {
  readonly message: string;
  readonly failedNode: string;
}

/** Literal as JSON, in place of the form of its type. */
export interface RawValue {
  readonly raw: string;
}

/** Object, list or map as JSON, in place of its fields. */
export interface JsonValue {
  readonly json: string;
}

/** A rule that a value breaks, at its field. */
export interface Problem {
  /** Names and indexes from the input to the field, joined by points: `params.depth`. */
  readonly path: string;
  /** Rule and remedy. */
  readonly text: string;
  /** True where nothing has been entered yet, which is no mistake before the launch. */
  readonly isEmpty?: boolean;
}

export function isRaw(value: FormValue | undefined): value is RawValue {
  return typeof value === "object" && value !== null && "raw" in value;
}

export function isJson(value: FormValue | undefined): value is JsonValue {
  return typeof value === "object" && value !== null && "json" in value;
}

export function isUnion(value: FormValue | undefined): value is UnionValue {
  return typeof value === "object" && value !== null && "variant" in value;
}

export function isList(value: FormValue | undefined): value is ListValue {
  return typeof value === "object" && value !== null && "items" in value;
}

export function isMap(value: FormValue | undefined): value is MapValue {
  return typeof value === "object" && value !== null && "entries" in value;
}

export function isObject(value: FormValue | undefined): value is ObjectValue {
  return typeof value === "object" && value !== null && "fields" in value;
}

export function isAddress(value: FormValue | undefined): value is AddressValue {
  return typeof value === "object" && value !== null && "address" in value;
}

export function isDateTime(value: FormValue | undefined): value is DateTimeValue {
  return typeof value === "object" && value !== null && "at" in value;
}

export function isErrorValue(value: FormValue | undefined): value is ErrorValue {
  return typeof value === "object" && value !== null && "failedNode" in value;
}
