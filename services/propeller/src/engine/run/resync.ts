import type { RuntimeNode, Scope } from "../graph/runtime.js";
import type { RunState } from "./run-state.js";

/** Resync: derives every node's dependencies from the phases of upstream nodes, not from counters, and reconciles all nodes. */
export function resyncScope(state: RunState, scope: Scope): void {
  for (const node of scope.nodes.values()) {
    if (node.ended) continue;
    recountUpstream(node);
    state.enqueueNode(node);
    if (node.childScope !== undefined) resyncScope(state, node.childScope);
  }
  state.enqueueScope(scope);
}

function recountUpstream(node: RuntimeNode): void {
  const { nodes, index } = node.scope;
  node.pendingUpstream = 0;
  node.unsuccessfulUpstream = 0;
  for (const id of index.upstream.get(node.id) ?? []) {
    const up = nodes.get(id);
    if (up === undefined || !up.isTerminal) node.pendingUpstream++;
    else if (!up.hasSucceeded) node.unsuccessfulUpstream++;
  }
}
