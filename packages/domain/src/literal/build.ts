import { create, type JsonObject } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type Literal,
  type LiteralMap,
  LiteralMapSchema,
  LiteralSchema,
  type Primitive,
  PrimitiveSchema,
  type Scalar,
  ScalarSchema,
} from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { LiteralType, SchemaType, StructuredDatasetType } from "@flyte-ts/idl/flyteidl/core/types_pb";

/**
 * Tag of a Binary scalar with a msgpack value: flytekit's form of dicts, data classes and models.
 */
export const MSGPACK_TAG = "msgpack";

export function integerLiteral(value: bigint | number): Literal {
  return primitiveLiteral({ case: "integer", value: BigInt(value) });
}

export function floatLiteral(value: number): Literal {
  return primitiveLiteral({ case: "floatValue", value });
}

export function stringLiteral(value: string): Literal {
  return primitiveLiteral({ case: "stringValue", value });
}

export function booleanLiteral(value: boolean): Literal {
  return primitiveLiteral({ case: "boolean", value });
}

export function datetimeLiteral(value: Date): Literal {
  return primitiveLiteral({ case: "datetime", value: timestampFromDate(value) });
}

export function durationLiteral(milliseconds: number): Literal {
  return primitiveLiteral({ case: "duration", value: durationFromMs(milliseconds) });
}

export function noneLiteral(): Literal {
  return scalarLiteral({ case: "noneType", value: { $typeName: "flyteidl.core.Void" } });
}

export function structLiteral(value: JsonObject): Literal {
  return scalarLiteral({ case: "generic", value });
}

export function binaryLiteral(value: Uint8Array, tag: string): Literal {
  return scalarLiteral({ case: "binary", value: { $typeName: "flyteidl.core.Binary", value, tag } });
}

/** A Schema literal: rows at `uri`, in the form that its writer chose. */
export function schemaLiteral(uri: string, type: SchemaType | undefined): Literal {
  return scalarLiteral({ case: "schema", value: { $typeName: "flyteidl.core.Schema", uri, type } });
}

/** A StructuredDataset literal: rows at `uri`, with their columns and format. */
export function structuredDatasetLiteral(uri: string, structuredDatasetType: StructuredDatasetType | undefined): Literal {
  const metadata = { $typeName: "flyteidl.core.StructuredDatasetMetadata" as const, structuredDatasetType };
  return scalarLiteral({ case: "structuredDataset", value: { $typeName: "flyteidl.core.StructuredDataset", uri, metadata } });
}

export function unionLiteral(value: Literal, type: LiteralType): Literal {
  return scalarLiteral({ case: "union", value: { $typeName: "flyteidl.core.Union", value, type } });
}

export function collectionLiteral(literals: readonly Literal[]): Literal {
  return create(LiteralSchema, { value: { case: "collection", value: { literals: [...literals] } } });
}

export function mapLiteral(literals: Iterable<readonly [string, Literal]>): Literal {
  return create(LiteralSchema, { value: { case: "map", value: literalMap(literals) } });
}

/** Builds a map; any name is safe as a key, also `__proto__`. */
export function literalMap(literals: Iterable<readonly [string, Literal]>): LiteralMap {
  const map = create(LiteralMapSchema);
  map.literals = Object.fromEntries(literals);
  return map;
}

function primitiveLiteral(value: Primitive["value"]): Literal {
  return scalarLiteral({ case: "primitive", value: create(PrimitiveSchema, { value }) });
}

function scalarLiteral(value: Scalar["value"]): Literal {
  return create(LiteralSchema, { value: { case: "scalar", value: create(ScalarSchema, { value }) } });
}
