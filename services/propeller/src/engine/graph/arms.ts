import { armIds } from "./index-graph.js";
import type { RuntimeNode } from "./runtime.js";

/** Arms of a branch node; none for other nodes. */
export function armsOf(node: RuntimeNode): readonly RuntimeNode[] {
  return armIds(node.model).flatMap((id) => node.scope.nodes.get(id) ?? []);
}

/** Chosen arm of a branch. */
export function chosenArm(node: RuntimeNode): RuntimeNode | undefined {
  const id = node.status.branchStatus?.finalNodeId;
  return id === undefined ? undefined : node.scope.nodes.get(id);
}

/**
 * True when the node's branch lets it run: of arms only the chosen one, or any before the choice.
 */
export function mayBeChosen({ id, branch }: RuntimeNode): boolean {
  if (branch === undefined) return true;
  const chosen = branch.status.branchStatus?.finalNodeId;
  return branch.started && (chosen === undefined || chosen === id);
}
