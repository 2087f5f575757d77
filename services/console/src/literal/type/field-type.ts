import type { LiteralTypeJson, SchemaTypeJson, StructuredDatasetTypeJson } from "@flyte-ts/idl/flyteidl/core/types_pb";
import type { Data } from "../data/data.js";

/** Least and greatest value of a number; undefined for no bound. */
export interface Bounds<Value> {
  readonly minimum?: Value;
  readonly maximum?: Value;
}

/** Field of a dataclass, a Pydantic model or another object with a JSON schema. */
export interface ObjectField {
  readonly name: string;
  readonly type: FieldType;
  readonly required: boolean;
  readonly fallback?: Data;
  readonly description: string;
}

/** Variant of a union. */
export interface UnionVariant {
  /** Short name for a segment: `integer`, `Schedule`. */
  readonly name: string;
  readonly type: FieldType;
  /** Type that a literal of the variant names; undefined within a JSON schema. */
  readonly literalType?: LiteralTypeJson;
}

/** Object with fields that a JSON schema describes. */
export interface ObjectType {
  readonly kind: "object";
  readonly name: string;
  /** Resolves its fields when they are needed, since schemas may refer to themselves. */
  readonly fields: () => readonly ObjectField[];
  readonly encoding: StructEncoding;
}

/** Form in which a literal holds an object: msgpack by flytekit 1.14 and later, else a struct. */
export type StructEncoding = "msgpack" | "struct";

/** Type of a value as forms need it, read from a literal type or from a JSON schema. */
export type FieldType =
  | ({ readonly kind: "integer" } & Bounds<bigint>)
  | ({ readonly kind: "float" } & Bounds<number>)
  | { readonly kind: "string"; readonly format: string }
  | { readonly kind: "boolean" | "datetime" | "duration" | "none" | "error" }
  | { readonly kind: "enum"; readonly values: readonly EnumValue[] }
  | { readonly kind: "list"; readonly item: FieldType }
  | { readonly kind: "map"; readonly value: FieldType }
  | { readonly kind: "union"; readonly variants: readonly UnionVariant[] }
  | ObjectType
  /** Any value of JSON; a `struct` is an object of it in a literal of its own. */
  | { readonly kind: "json" }
  | { readonly kind: "struct"; readonly encoding: StructEncoding }
  | { readonly kind: "blob"; readonly directory: boolean; readonly format: string }
  | { readonly kind: "dataset"; readonly format: string; readonly type: StructuredDatasetTypeJson }
  | { readonly kind: "schema"; readonly type: SchemaTypeJson }
  /** Without a form of its own: it is written as the JSON of its literal. */
  | { readonly kind: "raw"; readonly name: string };

/** Value of an enum: its text, and its value in JSON. */
export interface EnumValue {
  readonly text: string;
  readonly data: Data;
}
