import { create } from "@bufbuild/protobuf";
import { NodeExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { outputsUri } from "../graph/paths.js";
import type { RuntimeNode } from "../graph/runtime.js";
import type { NodeDecision } from "../decide/decision.js";
import { canReuse, canRecover } from "./reuse-policy.js";
import { call, cancelCall } from "./calls.js";
import { hasConsumers } from "../data/outputs.js";
import type { RunState } from "../state/run-state.js";

/** Next step of a node of a recovering execution. */
export type RecoveryDecision =
  | { readonly kind: "proceed" }
  /** A result is pending; the node is reconciled again. */
  | { readonly kind: "wait" }
  | { readonly kind: "reuse"; readonly success: Extract<NodeDecision, { kind: "succeed" }> };

const PROCEED: RecoveryDecision = { kind: "proceed" };

/** Looks up, before the node starts, its outcome in the recovered execution. */
export function checkRecovery(state: RunState, node: RuntimeNode, inputs: LiteralMap): RecoveryDecision {
  const executionId = state.model.options.recoveryExecution;
  if (executionId === undefined || node.calls.recoveryChecked || !canRecover(node)) return PROCEED;
  const id = create(NodeExecutionIdentifierSchema, { nodeId: node.uniqueId, executionId });
  const answer = call(state, node, { kind: "readPriorNode", id });
  if (answer === undefined) return { kind: "wait" };
  cancelCall(state, node, "readPriorNode");
  node.changeCalls().markRecoveryChecked();
  const prior = answer.kind === "value" ? answer.value : undefined;
  if (prior === undefined) return PROCEED;
  if (!canReuse(prior, { inputs, task: state.taskIdOf(node), isBound: hasConsumers(node) })) {
    // A task may continue from the failed node's checkpoint.
    if (!prior.succeeded && prior.checkpointUri !== "") node.changeCalls().continueFrom(prior.checkpointUri);
    return PROCEED;
  }
  node.changeCalls().reuse(prior);
  state.effects.metric("nodeRecovered");
  const outputs = prior.outputs === undefined ? undefined : { value: prior.outputs, uri: outputsUri(node.attemptDir) };
  return { kind: "reuse", success: { kind: "succeed", outputs } };
}
