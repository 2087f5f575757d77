import type { RuntimeNode, Scope } from "../graph/runtime.js";
import type { Walk } from "./walk.js";

/**
 * The full walk: what every node waits for is read from the phases of the nodes
 * before it, not from what was counted along the way, and everything is looked at.
 */
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
