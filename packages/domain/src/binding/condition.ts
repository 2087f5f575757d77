import type { BooleanExpression } from "@flyte-ts/idl/flyteidl/core/condition_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";

export interface ConditionError {
  readonly code: "MalformedBranchUserError";
  readonly message: string;
}

export type ConditionResult = { readonly value: boolean } | { readonly error: ConditionError };

/** The truth of a branch's condition over the branch node's inputs. */
export function evaluateCondition(_expression: BooleanExpression, _inputs: LiteralMap | undefined): ConditionResult {
  throw new Error("not written yet");
}
