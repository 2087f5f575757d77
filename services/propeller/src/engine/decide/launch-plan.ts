import { create } from "@bufbuild/protobuf";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { ChildExecution } from "../calls/admin.js";
import type { CallOutcome } from "../calls/call.js";
import { outputsUri } from "../graph/paths.js";
import type { RuntimeNode } from "../graph/runtime.js";
import type { NodeDecision } from "./decision.js";

// Outcomes of a launch plan node; error codes and texts are Go Flyte's.

/** Admin will never start the child. */
export function onCreateRefused({ code, message }: Extract<CallOutcome<never>, { kind: "refused" }>): NodeDecision {
  const text = `[UserError] failed to launch workflow, caused by: rpc error: code = ${goCode(code)} desc = ${message}`;
  return { kind: "fail", error: { code: "RuntimeExecutionError", kind: "USER", message: text } };
}

/** The node ends as its child does; `wait` while that runs. */
export function onChildPhase(node: RuntimeNode, child: ChildExecution, name: string): NodeDecision {
  switch (child.phase) {
    case "running":
      return { kind: "wait" };
    case "succeeded":
      return {
        kind: "succeed",
        outputs: { value: child.outputs ?? create(LiteralMapSchema), uri: outputsUri(node.attemptDir) },
      };
    case "failed":
      return { kind: "fail", error: child.error ?? { code: "LaunchPlanExecutionFailed", kind: "UNKNOWN", message: "Unknown Error" } };
    case "aborted":
      return childFailed(node, `launchplan [${name}] aborted, caused by: launchplan execution aborted`);
    case "timedOut":
      return childFailed(node, `launchplan [${name}] timed out, caused by: launchplan execution timed out`);
  }
}

/** The outcome of the child cannot be determined. */
export function childLookupFailed(
  node: RuntimeNode,
  { code, message }: Extract<CallOutcome<never>, { kind: "refused" }>,
): Extract<NodeDecision, { kind: "fail" }> {
  const text = `failed at Node[${node.id}]. RemoteChildWorkflowExecutionFailed: launch-plan not found, caused by: ${code}: ${message}`;
  return { kind: "fail", error: { code: "RemoteChildWorkflowExecutionFailed", kind: "SYSTEM", message: text } };
}

/** Abort cause of a child whose parent is aborted. */
export function cascadeCause(execution: string, reason: string): string {
  return `cascading abort as parent execution id [${execution}] aborted, reason [${reason}]`;
}

function childFailed(node: RuntimeNode, message: string): NodeDecision {
  const code = "RemoteChildWorkflowExecutionFailed";
  return { kind: "fail", error: { code, kind: "USER", message: `failed at Node[${node.id}]. ${code}: ${message}` } };
}

/** Converts a code to the spelling of Go's gRPC library: `NOT_FOUND` to `NotFound`. */
function goCode(code: string): string {
  return code
    .split("_")
    .map((word) => `${word.slice(0, 1)}${word.slice(1).toLowerCase()}`)
    .join("");
}
