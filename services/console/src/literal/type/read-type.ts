import type { LiteralTypeJson } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { isGiven } from "../../format/given.js";
import { dataOfJson, isDataObject } from "../data/data.js";
import { formatData } from "../data/json-text.js";
import type { EnumValue, FieldType, StructEncoding } from "./field-type.js";
import { readSchema } from "./read-schema.js";
import { shortName } from "./type-name.js";

/** Format of the blobs that flytekit pickles. */
export const PICKLE = "PythonPickle";

/** Reads a literal type as forms need it. */
export function readType(type: LiteralTypeJson | undefined): FieldType {
  if (type === undefined) return { kind: "raw", name: "unknown" };
  if (isGiven(type.collectionType)) return { kind: "list", item: readType(type.collectionType) };
  if (isGiven(type.mapValueType)) return { kind: "map", value: readType(type.mapValueType) };
  if (isGiven(type.unionType)) return readUnion(type.unionType.variants ?? []);
  if (isGiven(type.enumType)) return { kind: "enum", values: (type.enumType.values ?? []).map((text) => ({ text, data: text })) };
  if (isGiven(type.blob)) return { kind: "blob", directory: type.blob.dimensionality === "MULTIPART", format: type.blob.format ?? "" };
  if (isGiven(type.structuredDatasetType))
    return { kind: "dataset", format: type.structuredDatasetType.format ?? "", type: type.structuredDatasetType };
  if (isGiven(type.schema)) return { kind: "schema", type: type.schema };
  return readSimple(type);
}

function readUnion(variants: readonly LiteralTypeJson[]): FieldType {
  return {
    kind: "union",
    variants: variants.map((literalType) => {
      const type = readType(literalType);
      return { name: shortName(type), type, literalType };
    }),
  };
}

function readSimple(type: LiteralTypeJson): FieldType {
  const choices = choicesOf(type);
  if (choices !== undefined) return { kind: "enum", values: choices };
  switch (type.simple) {
    case "INTEGER":
      return { kind: "integer" };
    case "FLOAT":
      return { kind: "float" };
    case "STRING":
      return { kind: "string", format: "" };
    case "BOOLEAN":
      return { kind: "boolean" };
    case "DATETIME":
      return { kind: "datetime" };
    case "DURATION":
      return { kind: "duration" };
    case "NONE":
      return { kind: "none" };
    case "ERROR":
      return { kind: "error" };
    case "STRUCT":
      return readStruct(type);
    default:
      return { kind: "raw", name: (type.simple ?? "unknown").toString().toLowerCase() };
  }
}

/** Texts or integers of a `typing.Literal`, which flytekit writes to the annotation of the type. */
function choicesOf({ annotation, simple }: LiteralTypeJson): readonly EnumValue[] | undefined {
  const values = annotation?.annotations?.["literal_values"];
  const wanted = simple === "STRING" ? "string" : simple === "INTEGER" ? "bigint" : undefined;
  if (!Array.isArray(values) || wanted === undefined) return undefined;
  const choices = values.map(dataOfJson).filter((data) => typeof data === wanted);
  return choices.map((data) => ({ text: typeof data === "string" ? data : formatData(data), data }));
}

function readStruct(type: LiteralTypeJson): FieldType {
  const encoding = encodingOf(type);
  const schema = dataOfJson(type.metadata);
  // A protobuf message names its class, and has no schema.
  if (!isDataObject(schema) || "pb_type" in schema || Object.keys(schema).length === 0) return { kind: "struct", encoding };
  const read = readSchema(schema, encoding);
  return read.kind === "object" ? read : { kind: "struct", encoding };
}

/** flytekit 1.14 and later names the form in the annotation of the type. */
function encodingOf({ annotation }: LiteralTypeJson): StructEncoding {
  const metadata = dataOfJson(annotation?.annotations?.["cache-key-metadata"]);
  return isDataObject(metadata) && metadata["serialization-format"] === "msgpack" ? "msgpack" : "struct";
}
