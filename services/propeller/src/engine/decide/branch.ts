import { create } from "@bufbuild/protobuf";
import { evaluateCondition } from "@flyte-ts/domain/binding";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { BranchModel } from "@flyte-ts/workflow-crd";
import { outputsUri } from "../graph/paths.js";
import type { RuntimeNode } from "../graph/runtime.js";
import type { NodeDecision } from "./decision.js";
import { failureErrorOf } from "../errors/timed-out.js";
import { declaresNoOutputs } from "./task.js";

/** Chooses the first arm whose condition holds, else the default arm, else the author's error. */
export function chooseArm(branch: BranchModel, inputs: LiteralMap): NodeDecision {
  let taken: string | undefined;
  for (const arm of branch.arms) {
    const result = evaluateCondition(arm.condition, inputs);
    if ("error" in result) return userError(result.error.code, result.error.message);
    if (result.value) {
      taken = arm.then;
      break;
    }
  }
  taken ??= branch.otherwise;
  if (taken === undefined) {
    return branch.otherwiseError === undefined
      ? userError("MalformedBranchUserError", "No branch satisfied")
      : userError("UserProvidedError", branch.otherwiseError.message);
  }
  const all = branch.arms.map((arm) => arm.then).concat(branch.otherwise ?? []);
  return { kind: "take", arm: taken, skipped: all.filter((id) => id !== taken) };
}

/** A branch ends as its chosen arm does. */
export function onArmEnded(branch: RuntimeNode, arm: RuntimeNode): NodeDecision {
  if (arm.hasFailed) return { kind: "fail", error: failureErrorOf(arm) };
  if (!arm.isTerminal) return { kind: "wait" };
  const own = outputsUri(branch.attemptDir);
  const value = arm.data.outputs ?? (declaresNoOutputs(arm) ? create(LiteralMapSchema) : undefined);
  return {
    kind: "succeed",
    outputs: { value, uri: value === undefined && arm.hasSucceeded ? (arm.status.outputUri ?? outputsUri(arm.attemptDir)) : own },
  };
}

function userError(code: string, message: string): NodeDecision {
  const text = message.startsWith(`[${code}]`) ? message : `[${code}] ${message}`;
  return { kind: "fail", error: { code, kind: "USER", message: text } };
}
