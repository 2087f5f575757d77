import type { NodeStatus } from "../model/status.js";
import type { LoadedSlice } from "./codec.js";

type Statuses = Record<string, NodeStatus>;

/** Assembles the statuses of all slices into `nodeStatus`, each below its parent node. */
export function assembleSlices(slices: readonly LoadedSlice[]): Statuses {
  const root: TreeNode = { children: new Map() };
  for (const { entries } of slices) {
    for (const { path, status } of entries) {
      let node = root;
      for (const id of path) node = childOf(node, id);
      node.status = status;
    }
  }
  return statusesOf(root);
}

interface TreeNode {
  status?: NodeStatus;
  children?: Map<string, TreeNode>;
}

function childOf(node: TreeNode, id: string): TreeNode {
  node.children ??= new Map();
  let child = node.children.get(id);
  if (child === undefined) {
    child = {};
    node.children.set(id, child);
  }
  return child;
}

/**
 * Returns the statuses of the children. Skips a node without a status of its own, with its
 * descendants: flyte-ts never writes such nodes.
 */
function statusesOf({ children }: TreeNode): Statuses {
  const statuses: [string, NodeStatus][] = [];
  for (const [id, node] of children ?? []) {
    if (node.status === undefined) continue;
    statuses.push([id, node.children === undefined ? node.status : { ...node.status, subNodeStatus: statusesOf(node) }]);
  }
  // Creates own properties, whatever the ids are.
  return Object.fromEntries(statuses);
}
