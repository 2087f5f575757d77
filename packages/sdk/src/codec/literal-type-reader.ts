import { BlobType_BlobDimensionality as Dimensionality, type LiteralType, SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { ValueError } from "../entity/errors.js";
import type { PlainValue } from "../msgpack/plain.js";
import { typeOfFlytekitSchema } from "../type/json-schema-type.js";
import { t } from "../type/t.js";
import { type AnyType, described, type Fields } from "../type/type.js";
import { checkOnly, graphEncoding } from "./encoding.js";
import { fromPlain } from "./from-plain.js";
import { rootPlace } from "./place.js";
import { jsonToPlain, toPlain } from "./to-plain.js";

/**
 * Returns the type of this SDK for a LiteralType, as of an entity of another language. Forms
 * without a counterpart become opaque.
 */
export function typeOfLiteralType(type: LiteralType): AnyType {
  const kind = type.type;
  switch (kind.case) {
    case "simple":
      return simpleTypeOf(kind.value, type);
    case "collectionType":
      return t.list(typeOfLiteralType(kind.value));
    case "mapValueType":
      return t.map(typeOfLiteralType(kind.value));
    case "enumType": {
      const [first, ...rest] = kind.value.values;
      return first === undefined ? t.opaque(type, "an enum without values") : t.enum(first, ...rest);
    }
    case "unionType":
      return unionOf(kind.value.variants.map(typeOfLiteralType), type);
    case "blob":
      return kind.value.dimensionality === Dimensionality.MULTIPART ? t.directory(kind.value.format) : fileOf(kind.value.format, type);
    case "structuredDatasetType":
      return t.dataset(
        Object.fromEntries(
          kind.value.columns.flatMap(({ name, literalType }) =>
            literalType === undefined ? [] : [[name, typeOfLiteralType(literalType)]],
          ),
        ),
      );
    case "schema":
      return t.opaque(type, "a FlyteSchema of Python");
    case undefined:
      return t.opaque(type, "a type without a form");
  }
}

function fileOf(format: string, type: LiteralType): AnyType {
  return format === "PythonPickle" ? t.opaque(type, "a pickle of Python") : t.file(format);
}

function simpleTypeOf(simple: SimpleType, type: LiteralType): AnyType {
  switch (simple) {
    case SimpleType.NONE:
      return t.none;
    case SimpleType.INTEGER:
      return t.int;
    case SimpleType.FLOAT:
      return t.float;
    case SimpleType.STRING:
      return t.string;
    case SimpleType.BOOLEAN:
      return t.boolean;
    case SimpleType.DATETIME:
      return t.datetime;
    case SimpleType.DURATION:
      return t.duration;
    case SimpleType.BINARY:
      return t.bytes;
    case SimpleType.ERROR:
      return t.error;
    case SimpleType.STRUCT:
      return structOf(type);
  }
}

/** Reads an object: names and defaults from its JSON Schema, types from its structure. */
function structOf(type: LiteralType): AnyType {
  const { metadata, structure } = type;
  if (metadata === undefined) return t.json;
  const shown = described(readSchema(metadata, type));
  if (shown.kind !== "object") return shown;
  const fields = Object.entries(shown.fields).map(([name, field]) => {
    const declared = structure?.dataclassType[name];
    return [name, declared === undefined ? field : withDefaultOf(typeOfLiteralType(declared), field)] as const;
  });
  return t.object(Object.fromEntries(fields) as Fields, { title: shown.title });
}

function readSchema(metadata: NonNullable<LiteralType["metadata"]>, type: LiteralType): AnyType {
  try {
    return typeOfFlytekitSchema(metadata, withJsonDefault);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return t.opaque(type, error.message);
  }
}

/** Keeps the default of a field that the schema knows and the structure does not. */
function withDefaultOf(type: AnyType, field: AnyType): AnyType {
  const shown = described(field);
  if (shown.kind !== "default" || shown.value === null) return type;
  return withPlainDefault(type, toPlain(shown.inner, shown.value, graphEncoding, DEFAULT));
}

const withJsonDefault = (type: AnyType, json: unknown): AnyType => withPlainDefault(type, jsonToPlain(json, DEFAULT));

const DEFAULT = rootPlace("the default");

/** Adds a default; without one that fits its type, callers have to give the value. */
function withPlainDefault(type: AnyType, plain: PlainValue): AnyType {
  try {
    return t.default(type, fromPlain(type, plain, checkOnly().store(), DEFAULT));
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    return type;
  }
}

function unionOf(variants: readonly AnyType[], type: LiteralType): AnyType {
  const [first, second, ...rest] = variants.filter(({ kind }) => kind !== "none");
  if (first === undefined) return variants.length === 0 ? t.opaque(type, "a union without variants") : t.none;
  const union = second === undefined ? first : t.union(first, second, ...rest);
  return variants.some(({ kind }) => kind === "none") ? t.optional(union) : union;
}
