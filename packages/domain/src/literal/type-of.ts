import type { Literal } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { LiteralType } from "@flyte-ts/idl/flyteidl/core/types_pb";

/** The type that a literal's own content shows; undefined when some part of it holds no value. */
export function literalTypeOf(_literal: Literal): LiteralType | undefined {
  throw new Error("not written yet");
}
