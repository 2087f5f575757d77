import { create } from "@bufbuild/protobuf";
import {
  binaryLiteral,
  booleanLiteral,
  collectionLiteral,
  datetimeLiteral,
  floatLiteral,
  integerLiteral,
  mapLiteral,
  MSGPACK_TAG,
  noneLiteral,
  stringLiteral,
  structuredDatasetLiteral,
  unionLiteral,
} from "@flyte-ts/domain/literal";
import { type Literal, LiteralSchema, type Primitive, type Scalar } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import {
  BlobType_BlobDimensionality as Dimensionality,
  type BlobType,
  BlobTypeSchema,
  StructuredDatasetTypeSchema,
} from "@flyte-ts/idl/flyteidl/core/types_pb";
import { directoryUri, fileUri } from "../file/source.js";
import { datasetAddress } from "../file/dataset.js";
import { FlyteOpaque } from "../type/opaque.js";
import { type AnyType, described, type FileType } from "../type/type.js";
import { writeMsgpack } from "../msgpack/writer.js";
import type { Encoding } from "./encoding.js";
import { literalTypeOf, variantTypeOf } from "./literal-type.js";
import { fieldOf, itemOf, mismatch, type Place } from "./place.js";
import { bigintIn, booleanIn, bytesIn, dateIn, durationIn, enumIn, integerIn, listIn, numberIn, recordIn, stringIn } from "./primitive.js";
import { toPlain, variantFor } from "./to-plain.js";

/**
 * Encodes a value as a literal of this type. Files are written by the encoding, after this
 * function.
 *
 * @throws ValueError naming the place within the value
 */
export function encodeValue(type: AnyType, value: unknown, encoding: Encoding, place: Place): Literal {
  const shown = described(type);
  switch (shown.kind) {
    case "int":
      return integerLiteral(integerIn(value, place));
    case "bigint":
      return integerLiteral(bigintIn(value, place));
    case "float":
      return floatLiteral(numberIn(value, place));
    case "string":
      return stringLiteral(stringIn(value, place));
    case "boolean":
      return booleanLiteral(booleanIn(value, place));
    case "datetime":
      return datetimeLiteral(dateIn(value, place));
    case "duration":
      return durationLiteral(durationIn(value, place).milliseconds);
    case "enum":
      return stringLiteral(enumIn(value, shown.names, place));
    case "none":
      if (value !== null && value !== undefined) throw mismatch(place, "null", value);
      return noneLiteral();
    case "bytes":
      return binaryLiteral(bytesIn(value, place), "");
    case "json":
    case "object":
      return binaryLiteral(writeMsgpack(toPlain(type, value, encoding, place)), MSGPACK_TAG);
    case "schema": {
      const { type: wire, value: given } = shown.shape.encoded(value, place);
      return encodeValue(wire, given, encoding, place);
    }
    case "list":
      return collectionLiteral(listIn(value, place).map((item, i) => encodeValue(shown.element, item, encoding, itemOf(place, i))));
    case "map": {
      const entries = Object.entries(recordIn(value, place));
      return mapLiteral(
        entries.map(([key, item]) => [stringIn(key, place), encodeValue(shown.element, item, encoding, fieldOf(place, key))]),
      );
    }
    case "optional":
    case "union": {
      const variant = variantFor(type, value, place);
      return unionLiteral(encodeValue(variant, value, encoding, place), variantTypeOf(variant));
    }
    case "file":
      return fileLiteral(shown, value, encoding, place);
    case "directory":
      return blobLiteral(directoryUri(value, encoding, place), blobType(shown.format, Dimensionality.MULTIPART));
    case "dataset": {
      const { uri, format } = datasetAddress(value, shown, encoding, place);
      const columns = Object.entries(shown.columns).map(([name, column]) => ({ name, literalType: literalTypeOf(column) }));
      return structuredDatasetLiteral(uri, create(StructuredDatasetTypeSchema, { columns, format }));
    }
    case "error": {
      const { message, failedNode } = recordIn(value, place);
      const error = { message: stringIn(message, place), failedNodeId: stringIn(failedNode, place) };
      return scalarLiteral({ case: "error", value: { $typeName: "flyteidl.core.Error", ...error } });
    }
    case "default":
      return encodeValue(shown.inner, value === undefined ? shown.value : value, encoding, place);
    case "opaque":
      if (!(value instanceof FlyteOpaque)) throw mismatch(place, "a FlyteOpaque", value);
      return value.toLiteral();
  }
}

function fileLiteral({ format, hash }: FileType, value: unknown, encoding: Encoding, place: Place): Literal {
  const onHash = hash === "content" ? (found: string) => void (literal.hash = found) : undefined;
  const literal = blobLiteral(fileUri(value, { format, onHash }, encoding, place), blobType(format, Dimensionality.SINGLE));
  return literal;
}

const NANOSECONDS = 1_000_000_000n;

/** Encodes a duration; both parts of the message have one sign, and fractions keep nanoseconds. */
function durationLiteral(milliseconds: number): Literal {
  const nanoseconds = BigInt(Math.round(milliseconds * 1e6));
  const duration = {
    $typeName: "google.protobuf.Duration" as const,
    seconds: nanoseconds / NANOSECONDS,
    nanos: Number(nanoseconds % NANOSECONDS),
  };
  const value: Primitive["value"] = { case: "duration", value: duration };
  return scalarLiteral({ case: "primitive", value: { $typeName: "flyteidl.core.Primitive", value } });
}

function blobType(format: string, dimensionality: Dimensionality): BlobType {
  return create(BlobTypeSchema, { format, dimensionality });
}

function blobLiteral(uri: string, type: BlobType): Literal {
  const metadata = { $typeName: "flyteidl.core.BlobMetadata" as const, type };
  return scalarLiteral({ case: "blob", value: { $typeName: "flyteidl.core.Blob", uri, metadata } });
}

function scalarLiteral(value: Scalar["value"]): Literal {
  return create(LiteralSchema, { value: { case: "scalar", value: { $typeName: "flyteidl.core.Scalar", value } } });
}
