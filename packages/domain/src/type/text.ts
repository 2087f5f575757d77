import { type LiteralType, LiteralTypeSchema } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { protoText } from "./proto-text.js";

/**
 * Formats a type as protobuf text on one line, as clients see it in messages:
 * `collection_type:{simple:INTEGER}`.
 */
export function typeToText(type: LiteralType | undefined): string {
  return protoText(LiteralTypeSchema, type);
}
