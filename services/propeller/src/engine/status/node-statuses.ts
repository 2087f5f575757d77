import { setOwnField } from "@flyte-ts/workflow-crd";
import type { NodeStatus } from "@flyte-ts/workflow-crd/status";
import { NOT_STARTED, type Scope } from "../graph/runtime.js";

/** Statuses of a graph's nodes, including nested ones, as the resource should hold them. */
export function statusesOf(scope: Scope): Record<string, NodeStatus> {
  const statuses: Record<string, NodeStatus> = {};
  for (const [id, node] of scope.nodes) {
    if (node.status === NOT_STARTED) continue;
    setOwnField(statuses, id, node.childScope === undefined ? node.status : { ...node.status, subNodeStatus: statusesOf(node.childScope) });
  }
  return statuses;
}
