import { ScalarType } from "@bufbuild/protobuf";
import { type BinaryReader, type BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { ENUM, MESSAGE } from "./layout.js";

/** Returns the wire type of the values of a type. */
export function wireTypeOf(type: number): WireType {
  switch (type) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
    case MESSAGE:
      return WireType.LengthDelimited;
    case ScalarType.DOUBLE:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return WireType.Bit64;
    case ScalarType.FLOAT:
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
      return WireType.Bit32;
    default:
      return WireType.Varint;
  }
}

/** Reads a value that is no message. */
export function readScalar(reader: BinaryReader, type: number): unknown {
  switch (type) {
    case ScalarType.STRING:
      return reader.string(true);
    case ScalarType.BYTES:
      return reader.bytes();
    case ScalarType.BOOL:
      return reader.bool();
    case ENUM:
    case ScalarType.INT32:
      return reader.int32();
    case ScalarType.INT64:
      return reader.int64();
    case ScalarType.DOUBLE:
      return reader.double();
    case ScalarType.FLOAT:
      return reader.float();
    case ScalarType.UINT32:
      return reader.uint32();
    case ScalarType.UINT64:
      return reader.uint64();
    case ScalarType.SINT32:
      return reader.sint32();
    case ScalarType.SINT64:
      return reader.sint64();
    case ScalarType.FIXED32:
      return reader.fixed32();
    case ScalarType.FIXED64:
      return reader.fixed64();
    case ScalarType.SFIXED32:
      return reader.sfixed32();
    case ScalarType.SFIXED64:
      return reader.sfixed64();
    default:
      throw new Error(`fields of the protobuf type ${type} are not supported`);
  }
}

/** Writes a value that is no message. */
export function writeScalar(writer: BinaryWriter, type: number, value: unknown): void {
  switch (type) {
    case ScalarType.STRING:
      return void writer.string(value as string);
    case ScalarType.BYTES:
      return void writer.bytes(value as Uint8Array<ArrayBuffer>);
    case ScalarType.BOOL:
      return void writer.bool(value as boolean);
    case ENUM:
    case ScalarType.INT32:
      return void writer.int32(value as number);
    case ScalarType.INT64:
      return void writer.int64(value as bigint);
    case ScalarType.DOUBLE:
      return void writer.double(value as number);
    case ScalarType.FLOAT:
      return void writer.float(value as number);
    case ScalarType.UINT32:
      return void writer.uint32(value as number);
    case ScalarType.UINT64:
      return void writer.uint64(value as bigint);
    case ScalarType.SINT32:
      return void writer.sint32(value as number);
    case ScalarType.SINT64:
      return void writer.sint64(value as bigint);
    case ScalarType.FIXED32:
      return void writer.fixed32(value as number);
    case ScalarType.FIXED64:
      return void writer.fixed64(value as bigint);
    case ScalarType.SFIXED32:
      return void writer.sfixed32(value as number);
    case ScalarType.SFIXED64:
      return void writer.sfixed64(value as bigint);
    default:
      throw new Error(`fields of the protobuf type ${type} are not supported`);
  }
}
