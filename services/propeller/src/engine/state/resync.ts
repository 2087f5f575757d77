import type { RuntimeNode, Scope } from "../graph/runtime.js";

/** Queues of nodes and graphs to reconcile. */
export interface ReconcileQueue {
  enqueueNode(node: RuntimeNode): void;
  enqueueScope(scope: Scope): void;
}

/**
 * Resync: derives every node's dependencies from the phases of upstream nodes, not from counters,
 * and reconciles all nodes.
 */
export function resyncScope(queue: ReconcileQueue, scope: Scope): void {
  for (const node of scope.nodes.values()) {
    // An arm that has ended starts again with the next attempt of its branch.
    if (!node.ended || node.branch !== undefined) recountUpstream(node);
    if (node.ended) continue;
    queue.enqueueNode(node);
    if (node.childScope !== undefined) resyncScope(queue, node.childScope);
  }
  queue.enqueueScope(scope);
}

function recountUpstream(node: RuntimeNode): void {
  const { nodes, index } = node.scope;
  let pending = 0;
  let unsuccessful = 0;
  for (const id of index.upstream.get(node.id) ?? []) {
    const up = nodes.get(id);
    if (up === undefined || !up.isTerminal) pending++;
    else if (!up.hasSucceeded) unsuccessful++;
  }
  node.readiness.recount(pending, unsuccessful);
}
