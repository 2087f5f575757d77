import type { RuntimeNode, Scope } from "../graph/runtime.js";
import { cascadeCause } from "../handler/launch-plan.js";
import { childExecutionId } from "../request/child-execution.js";
import { sendAbort } from "./attempt.js";
import type { Walk } from "./walk.js";

/**
 * Asks for the end of all that the status shows as running, without looking at anything
 * else of the workflow: what one node makes go wrong keeps no other from being stopped.
 * Nodes that dynamic nodes made are not known here; they are stopped when they next tell of themselves.
 */
export function abortAll(walk: Walk, scope: Scope, reason: string): void {
  for (const node of scope.nodes.values()) {
    if (node.settled || !node.begun) continue;
    if (node.inner !== undefined) abortAll(walk, node.inner, reason);
    try {
      abortOne(walk, node, reason);
    } catch {
      // Whatever keeps this one from being stopped.
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
