import type { RuntimeNode } from "../graph/runtime.js";
import { hasFreeSlot, takesSlot } from "../policy/parallelism.js";
import type { RunState } from "./run-state.js";

/** Counts the node as started, with a slot where its kind takes one. */
export function markStarted(state: RunState, node: RuntimeNode): void {
  node.started = true;
  node.scope.activeNodes++;
  state.activeNodes++;
  if (!takesSlot(node, state.config.arrayParallelism)) return;
  node.holdsSlot = true;
  state.slotsUsed++;
}

/** Puts a ready node in the queue for capacity. */
export function enqueueStart(state: RunState, node: RuntimeNode): void {
  // An earlier observation made it ready, so later doubts do not apply.
  if (node.inStartQueue) return;
  node.maybeStarted ||= state.priorStartPossibleFor(node);
  node.inStartQueue = true;
  (takesSlot(node, state.config.arrayParallelism) ? state.slotQueue : state.startQueue).push(node);
}

/**
 * Next queued node, in graph order, so that the choice does not depend on the order in which nodes
 * became ready.
 */
export function dequeueStart(state: RunState): RuntimeNode | undefined {
  for (;;) {
    const hasRoomLeft = state.slotQueue.size > 0 && hasFreeSlot(state.model.options.maxParallelism, state.slotsUsed);
    const node = state.startQueue.pop() ?? (hasRoomLeft ? state.slotQueue.pop() : undefined);
    if (node === undefined) return undefined;
    node.inStartQueue = false;
    if (node.scope.array !== undefined) node.scope.array.queued--;
    const open = node.scope.stage === "running" || (node.scope.stage === "handlingFailure" && node === node.scope.failureNode);
    if (open && !node.started && !node.ended) return node;
  }
}
