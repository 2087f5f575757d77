import type { LiteralType } from "@flyte-ts/idl/flyteidl/core/types_pb";

/** A type as protobuf text on one line, as clients see it in messages: `collection_type:{simple:INTEGER}`. */
export function typeToText(_type: LiteralType | undefined): string {
  throw new Error("not written yet");
}
