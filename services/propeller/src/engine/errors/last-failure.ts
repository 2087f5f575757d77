import type { RuntimeNode, Scope } from "../graph/runtime.js";
import { START_NODE } from "../graph/index-graph.js";

/**
 * Selects, among several failed nodes, the one whose error the workflow reports when it finishes
 * executable nodes: the last in depth-first order from the start.
 */
export function lastFailure(scope: Scope): RuntimeNode | undefined {
  const seen = new Set<string>();
  const stack = [START_NODE];
  for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
    if (seen.has(id)) continue;
    seen.add(id);
    const node = scope.nodes.get(id);
    if (node?.hasFailed === true && node.branch === undefined) return node;
    // Stack order: the last downstream node comes first.
    for (const next of scope.graph.downstream.get(id) ?? scope.index.dependents.get(id) ?? []) stack.push(next);
  }
  return [...scope.nodes.values()].find((node) => node.hasFailed && node.branch === undefined);
}
