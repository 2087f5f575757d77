import type { RuntimeNode, Scope } from "../graph/runtime.js";
import type { ReconcileQueue } from "./resync.js";

/** Finds the nodes that an ended node makes ready. */
export interface ReadinessTracking {
  /** Called when a node has reached a terminal phase. */
  onNodeEnded(queue: ReconcileQueue, node: RuntimeNode): void;
  /**
   * Called before each node is dequeued while the workflow has not ended; `root` is its own graph.
   */
  beforeDequeue(queue: ReconcileQueue, root: Scope): void;
}

/**
 * Counts the pending upstream nodes of each node: the end of a node costs as much as it has
 * dependents.
 */
export const incrementalReadiness: ReadinessTracking = {
  onNodeEnded: decrementUpstream,
  beforeDequeue: () => undefined,
};

/** Decrements the pending upstream count of each dependent; enqueues those that reach zero. */
function decrementUpstream(queue: ReconcileQueue, node: RuntimeNode): void {
  const { scope } = node;
  for (const id of scope.index.dependents.get(node.id) ?? []) {
    const dependent = scope.nodes.get(id);
    if (dependent === undefined) continue;
    dependent.readiness.upstreamEnded(node.hasSucceeded);
    if (dependent.readiness.pendingUpstream === 0) queue.enqueueNode(dependent);
  }
}
