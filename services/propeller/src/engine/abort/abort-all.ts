import type { RuntimeNode, Scope } from "../graph/runtime.js";
import { cascadeCause } from "../decide/launch-plan.js";
import { childExecutionId } from "../messages/child-execution.js";
import { sendAbortRequest } from "../requests/requests.js";
import type { RunState } from "../state/run-state.js";

/**
 * Aborts all attempts that the status shows as running, without reconciling the workflow: an error
 * in one node does not keep others from being aborted. Nodes of dynamic graphs are unknown here;
 * they are aborted when they next report.
 */
export function abortAll(state: RunState, scope: Scope, reason: string): void {
  for (const node of scope.nodes.values()) {
    if (node.ended || !node.started) continue;
    if (node.childScope !== undefined) abortAll(state, node.childScope, reason);
    try {
      abortNodeAttempt(state, node, reason);
    } catch {
      // Ignores errors, so that the remaining nodes are aborted.
    }
  }
}

function abortNodeAttempt(state: RunState, node: RuntimeNode, reason: string): void {
  node.lifecycle.abort(reason);
  if (node.model.target.kind === "task") sendAbortRequest(state, node, "immediate");
  if (node.model.target.kind !== "launchPlan" || node.calls.childState === "none") return;
  const request = {
    kind: "terminateExecution",
    id: childExecutionId(state.model, node),
    cause: cascadeCause(state.model.name, reason),
  } as const;
  state.effects.emit({ kind: "call", id: state.calls.nextId(), call: request });
}
