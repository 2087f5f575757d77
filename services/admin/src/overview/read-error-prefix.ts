import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { ExecutionError_ErrorKind as Kind } from "@flyte-ts/idl/flyteidl/core/execution_pb";

/** Field numbers of core.ExecutionError. */
const FIELD = { code: 1, message: 2, kind: 4 } as const;

export interface ErrorPrefix {
  readonly code: string;
  readonly message: string;
  readonly kind: Kind;
}

/**
 * Reads the beginning of an encoded core.ExecutionError. A text that the end cuts is returned as
 * far as it is there; fields after it have their defaults.
 */
export function readErrorPrefix(bytes: Uint8Array): ErrorPrefix {
  const reader = new BinaryReader(bytes);
  const error = { code: "", message: "", kind: Kind.UNKNOWN };
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (wireType === WireType.LengthDelimited) {
      const length = reader.uint32();
      const text = decodeText(bytes.subarray(reader.pos, reader.pos + length));
      if (field === FIELD.code) error.code = text;
      else if (field === FIELD.message) error.message = text;
      if (reader.pos + length > bytes.length) break;
      reader.pos += length;
    } else if (field === FIELD.kind && wireType === WireType.Varint) error.kind = reader.int32();
    else reader.skip(wireType, field);
  }
  return error;
}

/** Decodes UTF-8, without a character that the end cuts. */
function decodeText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes, { stream: true });
}
