import { create, type JsonObject } from "@bufbuild/protobuf";
import {
  BlobType_BlobDimensionality as Dimensionality,
  type LiteralType,
  LiteralTypeSchema,
  SimpleType,
  TypeAnnotationSchema,
  TypeStructureSchema,
} from "@flyte-ts/idl/flyteidl/core/types_pb";
import { TypedInterfaceSchema, type TypedInterface, type VariableMap, VariableMapSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import type { Interface } from "../entity/definition.js";
import { type AnyType, described, type Fields, withoutDefault } from "../type/type.js";
import { jsonSchemaOf } from "./json-schema.js";
import { unionTag, variantsOf } from "./union.js";

const MSGPACK_ANNOTATION: JsonObject = { "cache-key-metadata": { "serialization-format": "msgpack" } };

const types = new WeakMap<AnyType, LiteralType>();

/**
 * Returns the LiteralType of a type, in the form that flytekit writes. Callers must not modify it:
 * it is cached.
 */
export function literalTypeOf(type: AnyType): LiteralType {
  const known = types.get(type);
  if (known !== undefined) return known;
  const made = annotated(makeLiteralType(type), type.annotations);
  types.set(type, made);
  return made;
}

/** Returns the LiteralType of one variant of a union: with its tag as the structure. */
export function variantTypeOf(type: AnyType): LiteralType {
  return { ...literalTypeOf(type), structure: create(TypeStructureSchema, { tag: unionTag(type) }) };
}

/** Returns the interface of an entity. */
export function typedInterfaceOf({ inputs, outputs }: Pick<Interface, "inputs" | "outputs">): TypedInterface {
  return create(TypedInterfaceSchema, { inputs: variableMapOf(inputs), outputs: variableMapOf(outputs) });
}

function variableMapOf(fields: Fields): VariableMap {
  const variables = Object.entries(fields).map(([name, type]) => [name, { type: literalTypeOf(type), description: name }] as const);
  return create(VariableMapSchema, { variables: Object.fromEntries(variables) });
}

function annotated(type: LiteralType, annotations: JsonObject | undefined): LiteralType {
  if (annotations === undefined) return type;
  const merged = { ...type.annotation?.annotations, ...annotations };
  return { ...type, annotation: create(TypeAnnotationSchema, { annotations: merged }) };
}

function makeLiteralType(type: AnyType): LiteralType {
  const shown = described(type);
  switch (shown.kind) {
    case "int":
    case "bigint":
      return simple(SimpleType.INTEGER);
    case "float":
      return simple(SimpleType.FLOAT);
    case "string":
      return simple(SimpleType.STRING);
    case "boolean":
      return simple(SimpleType.BOOLEAN);
    case "datetime":
      return simple(SimpleType.DATETIME);
    case "duration":
      return simple(SimpleType.DURATION);
    case "none":
      return simple(SimpleType.NONE);
    case "bytes":
      return simple(SimpleType.BINARY);
    case "error":
      return simple(SimpleType.ERROR);
    case "json":
      return { ...simple(SimpleType.STRUCT), annotation: msgpackAnnotation() };
    case "enum":
      return create(LiteralTypeSchema, { type: { case: "enumType", value: { values: [...shown.names] } } });
    case "list":
      return create(LiteralTypeSchema, { type: { case: "collectionType", value: literalTypeOf(shown.element) } });
    case "map":
      return create(LiteralTypeSchema, { type: { case: "mapValueType", value: literalTypeOf(shown.element) } });
    case "optional":
    case "union":
      return create(LiteralTypeSchema, { type: { case: "unionType", value: { variants: variantsOf(type).map(variantTypeOf) } } });
    case "object":
      return objectType(type, shown.fields);
    case "schema":
      return literalTypeOf(shown.shape.input);
    case "file":
      return blob(shown.format, Dimensionality.SINGLE);
    case "directory":
      return blob(shown.format, Dimensionality.MULTIPART);
    case "dataset": {
      const columns = Object.entries(shown.columns).map(([name, column]) => ({ name, literalType: literalTypeOf(column) }));
      return create(LiteralTypeSchema, { type: { case: "structuredDatasetType", value: { columns } } });
    }
    case "default":
      return literalTypeOf(shown.inner);
    case "opaque":
      return shown.literalType;
  }
}

function objectType(type: AnyType, fields: Fields): LiteralType {
  const attributes = Object.entries(fields).map(([name, field]) => [name, literalTypeOf(withoutDefault(field))] as const);
  return {
    ...simple(SimpleType.STRUCT),
    metadata: jsonSchemaOf(type),
    annotation: msgpackAnnotation(),
    structure: create(TypeStructureSchema, { dataclassType: Object.fromEntries(attributes) }),
  };
}

function blob(format: string, dimensionality: Dimensionality): LiteralType {
  return create(LiteralTypeSchema, { type: { case: "blob", value: { format, dimensionality } } });
}

function simple(value: SimpleType): LiteralType {
  return create(LiteralTypeSchema, { type: { case: "simple", value } });
}

function msgpackAnnotation() {
  return create(TypeAnnotationSchema, { annotations: MSGPACK_ANNOTATION });
}
