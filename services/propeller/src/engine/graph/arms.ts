import { armIds } from "./index-graph.js";
import type { RuntimeNode } from "./runtime.js";

/** Arms of a branch node; none for other nodes. */
export function armsOf(node: RuntimeNode): readonly RuntimeNode[] {
  return armIds(node.model).flatMap((id) => node.scope.nodes.get(id) ?? []);
}

/** The arm that a branch has chosen. */
export function takenArm(node: RuntimeNode): RuntimeNode | undefined {
  const id = node.status.branchStatus?.finalNodeId;
  return id === undefined ? undefined : node.scope.nodes.get(id);
}

/** Whether a node may run as far as its branch goes: of arms only the chosen one, or any while the choice is not known. */
export function mayBeTaken({ id, branch }: RuntimeNode): boolean {
  if (branch === undefined) return true;
  const chosen = branch.status.branchStatus?.finalNodeId;
  return branch.begun && (chosen === undefined || chosen === id);
}
