import { isTerminalNodeEvent, nodeEventPhase, nodeUniqueId } from "@flyte-ts/domain";
import { NodeExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { NodeStatus, WorkflowStatus } from "@flyte-ts/workflow-crd";
import type { NodeFact } from "./facts.js";
import { decodeBase64, statusError, statusTime } from "./resource-end.js";

type Statuses = Readonly<Record<string, NodeStatus>>;

/** A node as the status of its execution's resource shows it. */
export interface ResourceNode {
  /** Id that the node has in events. */
  readonly uniqueId: string;
  /** Id in its graph. */
  readonly specNodeId: string;
  /** The node in whose graph, or as whose arm, it runs; undefined at the top. */
  readonly parent: ResourceParent | undefined;
  /** It is an item of an array of tasks or the like: the array's task execution tells of it. */
  readonly isItem: boolean;
  /** Where its present attempt keeps what it reads and writes; undefined where the status does not say. */
  readonly attemptDir: string | undefined;
  readonly status: NodeStatus;
}

interface ResourceParent {
  readonly uniqueId: string;
  readonly attempt: number;
}

interface Within {
  readonly parent: ResourceParent | undefined;
  /** Of the parent's attempt, or of the execution. */
  readonly dir: string | undefined;
  readonly items: boolean;
}

/** All nodes of a status, by their ids in events. */
export function resourceNodes(nodes: Statuses, { dataDir }: Pick<WorkflowStatus, "dataDir">): ReadonlyMap<string, ResourceNode> {
  const found = new Map<string, ResourceNode>();
  walk(nodes, { parent: undefined, dir: dataDir, items: false }, found);
  return found;
}

function walk(nodes: Statuses, within: Within, found: Map<string, ResourceNode>): void {
  for (const [nodeId, status] of Object.entries(nodes)) {
    const above = armOf(nodes, status, within);
    const uniqueId = nodeUniqueId({ parent: above.parent, nodeId });
    const attemptDir = dirOf(nodeId, status, above);
    found.set(uniqueId, { uniqueId, specNodeId: nodeId, parent: above.parent, isItem: within.items, attemptDir, status });
    if (status.subNodeStatus === undefined) continue;
    const items = within.items || status.arrayNodeStatus !== undefined;
    walk(status.subNodeStatus, { parent: { uniqueId, attempt: status.attempts ?? 0 }, dir: attemptDir, items }, found);
  }
}

/** `<execution>/<node>/data/<attempt>` at the top, `<attempt above>/<node>/<attempt>` below another node. */
function dirOf(nodeId: string, { attempts = 0 }: NodeStatus, { parent, dir }: Within): string | undefined {
  if (dir === undefined) return undefined;
  return parent === undefined ? `${dir}/${nodeId}/data/${attempts}` : `${dir}/${nodeId}/${attempts}`;
}

/** Arms of a branch stand beside it and name it; a branch in an arm leads on to the next. */
function armOf(nodes: Statuses, status: NodeStatus, within: Within): Within {
  const branches: [string, NodeStatus][] = [];
  for (let at = status; at.parentNode !== undefined && branches.length < 100; ) {
    const branch = Object.hasOwn(nodes, at.parentNode) ? nodes[at.parentNode] : undefined;
    if (branch === undefined) break;
    branches.push([at.parentNode, branch]);
    at = branch;
  }
  return branches.reduceRight<Within>((outer, [nodeId, branch]) => {
    const uniqueId = nodeUniqueId({ parent: outer.parent, nodeId });
    return { parent: { uniqueId, attempt: branch.attempts ?? 0 }, dir: dirOf(nodeId, branch, outer), items: outer.items };
  }, within);
}

/**
 * Reports whether events are sure to tell of the end that the status shows. They do not for items of arrays, nor for arms of branches
 * that were not taken, which a status does not tell from other skipped nodes.
 */
export function isToldEnd({ isItem, status }: ResourceNode): boolean {
  const phase = nodeEventPhase(status.phase ?? 0);
  return !isItem && isTerminalNodeEvent(phase) && phase !== NodeExecution_Phase.SKIPPED;
}

/**
 * The end of a node as the status shows it: phase, error, times, and outputs where they stand in the status or where the status names
 * their address. It is assumed: an event of the end that comes late takes its place.
 *
 * @param settled for people: why the end is taken from the resource.
 * @param now nanoseconds since the epoch; the end where the status does not say when it was.
 */
export function endOfNode({ status, specNodeId, parent }: ResourceNode, settled: string, now: bigint): NodeFact {
  const occurredAt = statusTime(status.stoppedAt) ?? now;
  return {
    phase: nodeEventPhase(status.phase),
    occurredAt,
    reportedAt: occurredAt,
    startedAt: statusTime(status.startedAt),
    settled,
    error: status.error && statusError(status.error),
    outputUri: status.outputUri,
    outputs: status.outputs === undefined ? undefined : decodeBase64(status.outputs),
    inputUri: "",
    deckUri: "",
    dynamicJobSpecUri: "",
    dynamicWorkflowUri: "",
    parentNodeId: parent?.uniqueId,
    retryGroup: parent === undefined ? "" : String(parent.attempt),
    specNodeId,
    eventVersion: 1,
    isParent: false,
    isDynamic: false,
    isArray: status.arrayNodeStatus !== undefined,
  };
}
