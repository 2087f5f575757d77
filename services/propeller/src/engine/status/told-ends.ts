import { isTerminalNode, NodePhase } from "@flyte-ts/domain";
import type { NodeStatus } from "@flyte-ts/workflow-crd";
import type { Scope } from "../graph/runtime.js";

/**
 * Counts the nodes of a graph, at every depth, whose published ends are in the status. Excludes skipped nodes: a status
 * does not distinguish arms that were not chosen, which publish nothing. Also excludes items of maps.
 */
export function toldEnds(scope: Scope): number {
  if (scope.array?.tells === "items") return 0;
  let count = 0;
  for (const { status, inner } of scope.nodes.values()) {
    if (isTold(status)) count++;
    count += inner === undefined ? toldBelow(status) : toldEnds(inner);
  }
  return count;
}

/** Counts below a node whose graph was discarded. */
function toldBelow({ phase, subNodeStatus, arrayNodeStatus }: NodeStatus): number {
  if (subNodeStatus === undefined || (arrayNodeStatus !== undefined && !isTerminalNode(phase))) return 0;
  return Object.values(subNodeStatus).reduce((sum, status) => sum + (isTold(status) ? 1 : 0) + toldBelow(status), 0);
}

function isTold({ phase }: NodeStatus): boolean {
  return isTerminalNode(phase) && phase !== NodePhase.Skipped;
}
