import type { RuntimeNode, Scope } from "../graph/runtime.js";
import { cascadeCause } from "../handler/launch-plan.js";
import { childExecutionId } from "../request/child-execution.js";
import { sendAbort } from "./attempt.js";
import type { Walk } from "./walk.js";

/**
 * Aborts all attempts that the status shows as running, without reconciling the workflow: an error in one node does not
 * keep others from being aborted. Nodes of dynamic graphs are unknown here; they are aborted when they next report.
 */
export function abortAll(walk: Walk, scope: Scope, reason: string): void {
  for (const node of scope.nodes.values()) {
    if (node.settled || !node.begun) continue;
    if (node.inner !== undefined) abortAll(walk, node.inner, reason);
    try {
      abortOne(walk, node, reason);
    } catch {
      // Ignores errors, so that the remaining nodes are aborted.
    }
  }
}

function abortOne(walk: Walk, node: RuntimeNode, reason: string): void {
  node.stopping = reason;
  if (node.model.target.kind === "task") sendAbort(walk, node, "now");
  if (node.model.target.kind !== "launchPlan" || node.child === "none") return;
  const ask = { kind: "terminateExecution", id: childExecutionId(walk.model, node), cause: cascadeCause(walk.model.name, reason) } as const;
  walk.emit({ kind: "ask", id: walk.nextAskId(), ask });
}
