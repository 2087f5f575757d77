import type { JsonValue as ProtoJson } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { MSGPACK_TAG, MsgpackError } from "@flyte-ts/domain/literal";
import { isCastable } from "@flyte-ts/domain/type";
import type { Literal, Primitive, Scalar, Union } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { ValueError } from "../entity/errors.js";
import { RemoteDataset } from "../file/dataset.js";
import type { FileStore } from "../file/file.js";
import { RemoteDirectory, RemoteFile } from "../file/remote.js";
import { FlyteOpaque } from "../type/opaque.js";
import { type AnyType, described } from "../type/type.js";
import type { PlainValue } from "../msgpack/plain.js";
import { readMsgpack } from "../msgpack/reader.js";
import { fromPlain } from "./from-plain.js";
import { literalTypeOf } from "./literal-type.js";
import { fieldOf, itemOf, type Place } from "./place.js";
import { unionTag, variantsOf } from "./union.js";

/**
 * Decodes a literal as a value of this type. Accepts all forms that flytekit and propeller write:
 * msgpack, structs of flytekit before 1.14, and parts of objects.
 *
 * @throws ValueError naming the place within the value
 */
export function decodeLiteral(type: AnyType, literal: Literal, files: FileStore, place: Place): unknown {
  const shown = described(type);
  if (shown.kind === "opaque") return new FlyteOpaque(literal, shown.reason);
  if (shown.kind === "default") return decodeLiteral(shown.inner, literal, files, place);
  if (shown.kind === "schema") return shown.shape.decoded((wire) => decodeLiteral(wire, literal, files, place), place);
  const value = literal.value;
  switch (value.case) {
    case "collection":
      return decodeCollection(type, value.value.literals, files, place);
    case "map":
      return decodeMap(type, value.value.literals, files, place);
    case "scalar":
      return decodeScalar(type, value.value, files, place);
    case "offloadedMetadata":
      throw new ValueError(`${place.text} is offloaded to ${value.value.uri} and was not fetched`);
    case undefined:
      throw new ValueError(`${place.text} holds no value`);
  }
}

function decodeCollection(type: AnyType, literals: readonly Literal[], files: FileStore, place: Place): unknown {
  const shown = described(type);
  if (shown.kind === "list") return literals.map((item, i) => decodeLiteral(shown.element, item, files, itemOf(place, i)));
  if (shown.kind === "json") return literals.map((item, i) => decodeLiteral(type, item, files, itemOf(place, i)));
  return decodeBare(type, (variant) => decodeCollection(variant, literals, files, place), place, "a list");
}

function decodeMap(type: AnyType, literals: Readonly<Record<string, Literal>>, files: FileStore, place: Place): unknown {
  const shown = described(type);
  const element = shown.kind === "map" ? shown.element : shown.kind === "json" ? type : undefined;
  if (element === undefined) return decodeBare(type, (variant) => decodeMap(variant, literals, files, place), place, "a map");
  return Object.fromEntries(Object.entries(literals).map(([key, item]) => [key, decodeLiteral(element, item, files, fieldOf(place, key))]));
}

/** Decodes a literal without a union around it, where a union is declared. */
function decodeBare(type: AnyType, decode: (variant: AnyType) => unknown, place: Place, found: string): unknown {
  if (type.kind !== "optional" && type.kind !== "union") throw new ValueError(`${place.text} must be ${type.kind}, found ${found}`);
  return firstDecoded(variantsOf(type), decode, place);
}

function decodeScalar(type: AnyType, scalar: Scalar, files: FileStore, place: Place): unknown {
  const shown = described(type);
  const value = scalar.value;
  switch (value.case) {
    case "union":
      return decodeUnion(type, value.value, files, place);
    case "noneType":
      return fromPlain(type, null, files, place);
    case "primitive":
      return decodePrimitive(type, value.value, files, place);
    case "binary":
      if (value.value.tag === MSGPACK_TAG) return fromPlain(type, msgpackIn(value.value.value, place), files, place);
      if (shown.kind === "bytes" && value.value.tag === "") return value.value.value;
      throw new ValueError(`${place.text} is a binary of the format ${JSON.stringify(value.value.tag)}`);
    case "generic":
      return fromPlain(type, structPlain(value.value), files, place);
    case "error":
      return { failedNode: value.value.failedNodeId, message: value.value.message };
    case "blob":
      if (shown.kind === "file") return new RemoteFile(value.value.uri, files);
      if (shown.kind === "directory") return new RemoteDirectory(value.value.uri, files);
      return decodeBare(type, (variant) => decodeScalar(variant, scalar, files, place), place, "a file");
    case "structuredDataset": {
      if (shown.kind !== "dataset") return decodeBare(type, (variant) => decodeScalar(variant, scalar, files, place), place, "a data set");
      const { uri, metadata } = value.value;
      const format = metadata?.structuredDatasetType?.format || "parquet";
      return new RemoteDataset({ uri, format, columns: shown.columns, files });
    }
    case "schema":
      throw new ValueError(`${place.text} is a FlyteSchema, which only Python reads`);
    case undefined:
      throw new ValueError(`${place.text} holds no value`);
  }
}

function decodePrimitive(type: AnyType, { value }: Primitive, files: FileStore, place: Place): unknown {
  switch (value.case) {
    case "datetime":
      if (type.kind === "datetime") return timestampDate(value.value);
      return decodeBare(type, (variant) => decodePrimitive(variant, primitive(value), files, place), place, "a datetime");
    case "duration":
      if (type.kind === "duration") return { milliseconds: Number(value.value.seconds) * 1000 + value.value.nanos / 1e6 };
      return decodeBare(type, (variant) => decodePrimitive(variant, primitive(value), files, place), place, "a duration");
    case undefined:
      throw new ValueError(`${place.text} holds no value`);
    default:
      return fromPlain(type, value.value, files, place);
  }
}

function primitive(value: Primitive["value"]): Primitive {
  return { $typeName: "flyteidl.core.Primitive", value };
}

function decodeUnion(type: AnyType, { value, type: variantType }: Union, files: FileStore, place: Place): unknown {
  if (value === undefined) throw new ValueError(`${place.text} holds no value`);
  if (type.kind !== "optional" && type.kind !== "union") return decodeLiteral(type, value, files, place);
  const variants = variantsOf(type);
  const tag = variantType?.structure?.tag;
  const tagged = variants.filter((variant) => unionTag(variant) === tag);
  const untagged = variantType && { ...variantType, structure: undefined };
  const exact = tagged.filter((variant) => untagged !== undefined && isCastable(untagged, literalTypeOf(variant)));
  return firstDecoded([...new Set([...exact, ...tagged, ...variants])], (variant) => decodeLiteral(variant, value, files, place), place);
}

function firstDecoded(variants: readonly AnyType[], decode: (variant: AnyType) => unknown, place: Place): unknown {
  const problems: ValueError[] = [];
  for (const variant of variants) {
    try {
      return decode(variant);
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      problems.push(error);
    }
  }
  throw problems[0] ?? new ValueError(`${place.text} fits no variant`);
}

function msgpackIn(bytes: Uint8Array, place: Place): PlainValue {
  try {
    return readMsgpack(bytes);
  } catch (error) {
    if (!(error instanceof MsgpackError)) throw error;
    throw new ValueError(`${place.text}: ${error.message}`, { cause: error });
  }
}

/** Converts a struct of flytekit before 1.14, whose numbers are all floats. */
function structPlain(value: ProtoJson): PlainValue {
  if (Array.isArray(value)) return value.map(structPlain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, structPlain(item)]));
}
