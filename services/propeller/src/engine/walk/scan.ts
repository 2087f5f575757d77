import type { RuntimeNode, Scope } from "../graph/runtime.js";
import type { Walk } from "./walk.js";

/** Resync: derives every node's dependencies from the phases of upstream nodes, not from counters, and reconciles all nodes. */
export function scan(walk: Walk, scope: Scope): void {
  for (const node of scope.nodes.values()) {
    if (node.settled) continue;
    count(node);
    walk.look(node);
    if (node.inner !== undefined) scan(walk, node.inner);
  }
  walk.lookAt(scope);
}

function count(node: RuntimeNode): void {
  const { nodes, index } = node.scope;
  node.unfinished = 0;
  node.spoiled = 0;
  for (const id of index.upstream.get(node.id) ?? []) {
    const up = nodes.get(id);
    if (up === undefined || !up.terminal) node.unfinished++;
    else if (!up.succeeded) node.spoiled++;
  }
}
