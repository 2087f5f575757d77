import { isGiven } from "../format/given.js";
import type { LiteralJson, ScalarJson } from "@flyte-ts/idl/flyteidl/core/literals_pb";

/** A value as text. */
export interface LiteralText {
  /** Kind of the value in the words of Flyte: `integer`, `list`, `schema`. */
  readonly type: string;
  readonly text: string;
}

const INDENT = 2;

/** Formats a literal: scalars as they are, collections as JSON, data elsewhere by their address. */
export function literalText(literal: LiteralJson): LiteralText {
  if (isGiven(literal.scalar)) return scalarText(literal.scalar);
  if (isGiven(literal.collection)) return { type: "list", text: json(valueOf(literal)) };
  if (isGiven(literal.map)) return { type: "map", text: json(valueOf(literal)) };
  if (isGiven(literal.offloadedMetadata)) return { type: "offloaded", text: literal.offloadedMetadata.uri ?? "" };
  return { type: "none", text: "none" };
}

function scalarText(scalar: ScalarJson): LiteralText {
  const { primitive, blob, structuredDataset, schema, generic, union, error } = scalar;
  if (isGiven(primitive)) {
    const [[name, value] = ["", ""]] = Object.entries(primitive);
    return { type: PRIMITIVES[name] ?? name, text: String(value) };
  }
  if (isGiven(blob)) return { type: blob.metadata?.type?.dimensionality === "MULTIPART" ? "directory" : "file", text: blob.uri ?? "" };
  if (isGiven(structuredDataset)) return { type: "structured dataset", text: structuredDataset.uri ?? "" };
  if (isGiven(schema)) return { type: "schema", text: schema.uri ?? "" };
  if (isGiven(generic)) return { type: "struct", text: json(generic) };
  if (isGiven(union?.value)) return literalText(union.value);
  if (isGiven(error)) return { type: "error", text: error.message ?? "" };
  if (isGiven(scalar.binary)) return { type: scalar.binary.tag ?? "binary", text: scalar.binary.value ?? "" };
  return { type: "none", text: "none" };
}

const PRIMITIVES: Readonly<Record<string, string>> = {
  integer: "integer",
  floatValue: "float",
  stringValue: "string",
  boolean: "boolean",
  datetime: "datetime",
  duration: "duration",
};

/** Returns a literal as a value of JSON; integers stay texts where JSON would lose digits. */
function valueOf(literal: LiteralJson): unknown {
  if (isGiven(literal.collection)) return (literal.collection.literals ?? []).map(valueOf);
  if (isGiven(literal.map))
    return Object.fromEntries(Object.entries(literal.map.literals ?? {}).map(([key, value]) => [key, valueOf(value)]));
  const { primitive, generic, union } = literal.scalar ?? {};
  if (isGiven(union?.value)) return valueOf(union.value);
  if (isGiven(generic)) return generic;
  if (primitive?.integer !== undefined)
    return Number.isSafeInteger(Number(primitive.integer)) ? Number(primitive.integer) : primitive.integer;
  if (isGiven(primitive)) return Object.values(primitive)[0];
  return literalText(literal).text;
}

function json(value: unknown): string {
  return JSON.stringify(value, null, INDENT);
}
