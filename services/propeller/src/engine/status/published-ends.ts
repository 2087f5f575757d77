import { isTerminalNode, NodePhase } from "@flyte-ts/domain/phase";
import type { NodeStatus } from "@flyte-ts/workflow-crd/status";
import type { Scope } from "../graph/runtime.js";

/**
 * Counts the nodes of a graph, at every depth, whose published ends are in the status. Excludes
 * skipped nodes: a status does not distinguish arms that were not chosen, which publish nothing.
 * Also excludes items of maps.
 */
export function countPublishedEnds(scope: Scope): number {
  if (scope.array?.reportsItemsAs === "items") return 0;
  let count = 0;
  for (const { status, childScope } of scope.nodes.values()) {
    if (isPublishedEnd(status)) count++;
    count += childScope === undefined ? countPublishedBelow(status) : countPublishedEnds(childScope);
  }
  return count;
}

/** Counts below a node whose graph was discarded. */
function countPublishedBelow({ phase, subNodeStatus, arrayNodeStatus }: NodeStatus): number {
  if (subNodeStatus === undefined || (arrayNodeStatus !== undefined && !isTerminalNode(phase))) return 0;
  return Object.values(subNodeStatus).reduce((sum, status) => sum + (isPublishedEnd(status) ? 1 : 0) + countPublishedBelow(status), 0);
}

function isPublishedEnd({ phase }: NodeStatus): boolean {
  return isTerminalNode(phase) && phase !== NodePhase.Skipped;
}
