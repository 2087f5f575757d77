import { type Expansion, expansionOf, type GraphUse } from "@flyte-ts/domain/graph";
import type { GraphModel, NodeModel, WorkflowModel } from "./model.js";

/**
 * Computes the number of node instances of the graphs of a resource or of a dynamic node. All arms
 * of a branch count, and the node of an array node counts once.
 *
 * @throws ExpansionError when a sub-workflow contains itself.
 */
export function modelExpansion({ root, subWorkflows }: Pick<WorkflowModel, "root" | "subWorkflows">): Expansion {
  let expansion = expansions.get(root);
  if (expansion === undefined) {
    expansion = expansionOf(graphUse(root), (key) => {
      const graph = subWorkflows.get(key);
      return graph && graphUse(graph);
    });
    expansions.set(root, expansion);
  }
  return expansion;
}

/** Executions of one version share its graphs, so each is counted once. */
const expansions = new WeakMap<GraphModel, Expansion>();

function graphUse({ id, nodes, onFailure }: GraphModel): GraphUse {
  const use = { name: id, nodes: 0, subWorkflows: [] as string[] };
  for (const node of nodes.values()) addNode(node, use);
  if (onFailure !== undefined && nodes.get(onFailure.id) !== onFailure) addNode(onFailure, use);
  return use;
}

function addNode({ target }: NodeModel, use: { nodes: number; readonly subWorkflows: string[] }): void {
  use.nodes++;
  let nested = target;
  while (nested.kind === "array") {
    use.nodes++;
    nested = nested.subNode.target;
  }
  if (nested.kind === "subWorkflow") use.subWorkflows.push(nested.workflow);
}
