import type { RuntimeNode } from "../graph/runtime.js";
import { hasRoom, takesSlot } from "../parallelism/decide.js";
import type { Walk } from "./walk.js";

/** Counts the node as started, with a slot where its kind takes one. */
export function begin(walk: Walk, node: RuntimeNode): void {
  node.begun = true;
  node.scope.live++;
  walk.activeNodes++;
  if (!takesSlot(node, walk.config.arrayParallelism)) return;
  node.slot = true;
  walk.slotsUsed++;
}

/** Puts a ready node in the queue for capacity. */
export function waitForRoom(walk: Walk, node: RuntimeNode): void {
  // An earlier observation made it ready, so later doubts do not apply.
  if (node.waits) return;
  node.maybeBegun ||= walk.doubts(node);
  node.waits = true;
  (takesSlot(node, walk.config.arrayParallelism) ? walk.waiting : walk.starting).push(node);
}

/** Next queued node, in graph order, so that the choice does not depend on the order in which nodes became ready. */
export function nextWaiting(walk: Walk): RuntimeNode | undefined {
  for (;;) {
    const hasRoomLeft = walk.waiting.size > 0 && hasRoom(walk.model.options.maxParallelism, walk.slotsUsed);
    const node = walk.starting.pop() ?? (hasRoomLeft ? walk.waiting.pop() : undefined);
    if (node === undefined) return undefined;
    node.waits = false;
    if (node.scope.array !== undefined) node.scope.array.pending--;
    const open = node.scope.stage === "run" || (node.scope.stage === "handle" && node === node.scope.failureNode);
    if (open && !node.begun && !node.settled) return node;
  }
}
