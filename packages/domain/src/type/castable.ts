import type { LiteralType } from "@flyte-ts/idl/flyteidl/core/types_pb";

/** Whether a value of type `upstream` may be given where `downstream` is expected. */
export function castable(_upstream: LiteralType, _downstream: LiteralType): boolean {
  throw new Error("not written yet");
}
