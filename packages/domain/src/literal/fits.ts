import type { Literal } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { LiteralType } from "@flyte-ts/idl/flyteidl/core/types_pb";

/** Whether a literal may be given for an input of this type. */
export function literalFitsType(_literal: Literal, _type: LiteralType): boolean {
  throw new Error("not written yet");
}
