import { type Expansion, expansionOf, type GraphUse } from "@flyte-ts/domain";
import type { GraphModel, NodeModel, WorkflowModel } from "./model.js";

/**
 * Computes the number of node instances of the graphs of a resource, or of a dynamic node's. All arms of a branch
 * count, and the node of an array node counts once.
 *
 * @throws ExpansionError when a sub-workflow contains itself.
 */
export function modelExpansion({ root, subWorkflows }: Pick<WorkflowModel, "root" | "subWorkflows">): Expansion {
  let expansion = counted.get(root);
  if (expansion === undefined) {
    expansion = expansionOf(useOf(root), (key) => {
      const graph = subWorkflows.get(key);
      return graph && useOf(graph);
    });
    counted.set(root, expansion);
  }
  return expansion;
}

/** Executions of one version share its graphs, so each is counted once. */
const counted = new WeakMap<GraphModel, Expansion>();

function useOf({ id, nodes, onFailure }: GraphModel): GraphUse {
  const use = { name: id, nodes: 0, subWorkflows: [] as string[] };
  for (const node of nodes.values()) add(node, use);
  if (onFailure !== undefined && nodes.get(onFailure.id) !== onFailure) add(onFailure, use);
  return use;
}

function add({ target }: NodeModel, use: { nodes: number; readonly subWorkflows: string[] }): void {
  use.nodes++;
  let inner = target;
  while (inner.kind === "array") {
    use.nodes++;
    inner = inner.subNode.target;
  }
  if (inner.kind === "subWorkflow") use.subWorkflows.push(inner.workflow);
}
