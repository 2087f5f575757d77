import { nodeUniqueId } from "@flyte-ts/domain";
import type { NodeStatus, WorkflowStatus } from "@flyte-ts/workflow-crd";

/**
 * Phases that a resource's status tells, by the ids that nodes have in events. A resource
 * that keeps its nodes elsewhere tells of none.
 */
export function toldPhases(status: Pick<WorkflowStatus, "nodeStatus"> | undefined): ReadonlyMap<string, number> {
  const told = new Map<string, number>();
  const walk = (nodes: Readonly<Record<string, NodeStatus>> | undefined, parent: { uniqueId: string; attempt: number } | undefined) => {
    for (const [nodeId, node] of Object.entries(nodes ?? {})) {
      const uniqueId = nodeUniqueId({ parent, nodeId });
      told.set(uniqueId, node.phase ?? 0);
      walk(node.subNodeStatus, { uniqueId, attempt: node.attempts ?? 0 });
    }
  };
  walk(status?.nodeStatus, undefined);
  return told;
}
