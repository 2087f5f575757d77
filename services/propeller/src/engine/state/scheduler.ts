import type { RuntimeNode } from "../graph/runtime.js";
import { hasFreeSlot, takesSlot } from "../policy/parallelism.js";
import type { RunState } from "./run-state.js";

/** Counts the node as started, with a slot where its kind takes one. */
export function markStarted(state: RunState, node: RuntimeNode): void {
  state.usage.nodeStarted(node, takesSlot(node, state.config.arrayParallelism));
}

/** Puts a ready node in the queue for capacity. */
export function enqueueStart(state: RunState, node: RuntimeNode): void {
  // An earlier observation made the queued node ready, so this observation's `priorStartPossible`
  // does not concern it.
  if (node.lifecycle.inStartQueue) return;
  node.readiness.addMaybeStarted(state.observation.priorStartPossibleFor(node));
  state.queues.enqueueStart(node, takesSlot(node, state.config.arrayParallelism));
}

/**
 * Next queued node, in graph order, so that the choice does not depend on the order in which nodes
 * became ready.
 */
export function dequeueStart(state: RunState): RuntimeNode | undefined {
  for (;;) {
    const node = state.queues.dequeueStart(hasFreeSlot(state.model.options.maxParallelism, state.usage.slotsUsed));
    if (node === undefined) return undefined;
    if (node.scope.array !== undefined) node.scope.array.queued--;
    const open = node.scope.stage === "running" || (node.scope.stage === "handlingFailure" && node === node.scope.failureNode);
    if (open && !node.started && !node.ended) return node;
  }
}
