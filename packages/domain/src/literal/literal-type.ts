import { create } from "@bufbuild/protobuf";
import type { Literal, Primitive, Scalar } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type LiteralType, LiteralTypeSchema, SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { MAX_NESTING } from "../type/nesting.js";
import { simpleType } from "../type/simple.js";
import { compareText } from "../type/order.js";
import { typeToText } from "../type/text.js";
import { MSGPACK_TAG } from "./build.js";

/**
 * Infers a literal's type from its content; undefined when some part of it holds no value or is
 * nested deeper than MAX_NESTING. An empty list or map has elements of type None, which is ignored
 * beside others that are not empty; mixed elements make a union, its variants in order of their
 * text. The result may be shared or part of the literal: do not change it.
 */
export function literalTypeOf(literal: Literal, depth = 0): LiteralType | undefined {
  if (depth > MAX_NESTING) return undefined;
  const value = literal.value;
  switch (value.case) {
    case "scalar":
      return scalarTypeOf(value.value);
    case "collection": {
      const element = elementTypeOf(value.value.literals, depth);
      return element && create(LiteralTypeSchema, { type: { case: "collectionType", value: element } });
    }
    case "map": {
      const element = elementTypeOf(Object.values(value.value.literals), depth);
      return element && create(LiteralTypeSchema, { type: { case: "mapValueType", value: element } });
    }
    case "offloadedMetadata":
      return value.value.inferredType;
    case undefined:
      return undefined;
  }
}

/**
 * Infers the type of a scalar; undefined without enough information (no value, a blob without
 * metadata).
 */
export function scalarTypeOf(scalar: Scalar): LiteralType | undefined {
  const value = scalar.value;
  switch (value.case) {
    case "primitive":
      return simpleType(simpleTypeOfPrimitive(value.value));
    case "blob": {
      const type = value.value.metadata?.type;
      if (value.value.metadata === undefined) return undefined;
      return create(LiteralTypeSchema, type === undefined ? {} : { type: { case: "blob", value: type } });
    }
    case "binary":
      return simpleType(value.value.tag === MSGPACK_TAG ? SimpleType.STRUCT : SimpleType.BINARY);
    case "schema": {
      const type = value.value.type;
      return create(LiteralTypeSchema, type === undefined ? {} : { type: { case: "schema", value: type } });
    }
    case "noneType":
      return simpleType(SimpleType.NONE);
    case "error":
      return simpleType(SimpleType.ERROR);
    case "generic":
      return simpleType(SimpleType.STRUCT);
    case "structuredDataset": {
      const type = value.value.metadata?.structuredDatasetType;
      return create(LiteralTypeSchema, type === undefined ? {} : { type: { case: "structuredDatasetType", value: type } });
    }
    case "union": {
      const type = value.value.type;
      return type && create(LiteralTypeSchema, { type: { case: "unionType", value: { variants: [type] } } });
    }
    case undefined:
      return undefined;
  }
}

/** A primitive without a value counts as None, which no primitive input accepts. */
export function simpleTypeOfPrimitive(primitive: Primitive): SimpleType {
  switch (primitive.value.case) {
    case "integer":
      return SimpleType.INTEGER;
    case "floatValue":
      return SimpleType.FLOAT;
    case "stringValue":
      return SimpleType.STRING;
    case "boolean":
      return SimpleType.BOOLEAN;
    case "datetime":
      return SimpleType.DATETIME;
    case "duration":
      return SimpleType.DURATION;
    case undefined:
      return SimpleType.NONE;
  }
}

function elementTypeOf(literals: readonly Literal[], depth: number): LiteralType | undefined {
  const byMessage = new Set<LiteralType>();
  for (const literal of literals) {
    const type = literalTypeOf(literal, depth + 1);
    if (type === undefined) return undefined;
    byMessage.add(type);
  }
  const byText = new Map([...byMessage].map((type) => [typeToText(type), type]));
  // An empty list beside other lists does not determine its element type.
  const full = new Set([...byMessage].filter((type) => !isEmptyContainer(type)).map((type) => type.type.case));
  const telling = [...byText].filter(([, type]) => !isEmptyContainer(type) || !full.has(type.type.case));
  const variants = telling.sort(([a], [b]) => compareText(a, b)).map(([, type]) => type);
  if (variants.length === 0) return simpleType(SimpleType.NONE);
  if (variants.length === 1) return variants[0];
  return create(LiteralTypeSchema, { type: { case: "unionType", value: { variants } } });
}

function isEmptyContainer(type: LiteralType): boolean {
  const { case: kind, value } = type.type;
  return (kind === "collectionType" || kind === "mapValueType") && value.type.case === "simple" && value.type.value === SimpleType.NONE;
}
