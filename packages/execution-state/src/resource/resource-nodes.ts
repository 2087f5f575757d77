import { create, fromBinary } from "@bufbuild/protobuf";
import { nodeUniqueId } from "@flyte-ts/domain/name";
import { isTerminalNode, isTerminalNodeEvent, nodeEventPhase } from "@flyte-ts/domain/phase";
import { CatalogMetadataSchema } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { NodeExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { WorkflowExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { NodeStatus, WorkflowStatus } from "@flyte-ts/workflow-crd/status";
import type { NodeUpdate, NodeTarget } from "../event/updates.js";
import { executionTarget, taskTarget } from "../event/node-target.js";
import { decodeBase64, statusError, statusTime } from "./resource-end.js";

type Statuses = Readonly<Record<string, NodeStatus>>;

/** A node in the status of its execution's resource. */
export interface ResourceNode {
  /** Its id in events. */
  readonly uniqueId: string;
  /** Its id in its graph. */
  readonly specNodeId: string;
  /** The node in whose graph, or as whose arm, it runs; undefined at the top. */
  readonly parent: ResourceParent | undefined;
  /**
   * True for a node within an array that is not terminal. The array's task execution reports items
   * of tasks, so an event about the node's end may never come.
   */
  readonly isItem: boolean;
  /** Folder of its current attempt's inputs and outputs; undefined where the status has none. */
  readonly attemptDir: string | undefined;
  readonly status: NodeStatus;
}

interface ResourceParent {
  readonly uniqueId: string;
  readonly attempt: number;
}

interface GraphContext {
  /** The nodes are the items of an array. */
  readonly array: boolean;
  readonly parent: ResourceParent | undefined;
  /** Folder of the parent's attempt, or of the execution. */
  readonly dir: string | undefined;
  readonly items: boolean;
}

/** Lists all nodes of a status, by their ids in events. */
export function resourceNodes(nodes: Statuses, { dataDir }: Pick<WorkflowStatus, "dataDir">): ReadonlyMap<string, ResourceNode> {
  const collected = new Map<string, ResourceNode>();
  collectNodes(nodes, { array: false, parent: undefined, dir: dataDir, items: false }, collected);
  return collected;
}

function collectNodes(nodes: Statuses, within: GraphContext, collected: Map<string, ResourceNode>): void {
  for (const [nodeId, status] of Object.entries(nodes)) {
    const context = branchContext(nodes, status, within);
    const uniqueId = nodeUniqueId({ parent: context.parent, nodeId });
    const attemptDir = attemptDirOf(nodeId, status, context);
    collected.set(uniqueId, { uniqueId, specNodeId: nodeId, parent: context.parent, isItem: context.items, attemptDir, status });
    if (status.subNodeStatus === undefined) continue;
    // A terminal array keeps its nested nodes only where events report them.
    const items = context.items || (status.arrayNodeStatus !== undefined && !isTerminalNode(status.phase));
    const parent = { uniqueId, attempt: status.attempts ?? 0 };
    collectNodes(status.subNodeStatus, { array: status.arrayNodeStatus !== undefined, parent, dir: attemptDir, items }, collected);
  }
}

/**
 * `<execution>/<node>/data/<attempt>` at the top, `<attempt above>/<node>/<attempt>` below another
 * node; items of arrays use their numbers.
 */
function attemptDirOf(nodeId: string, { attempts = 0 }: NodeStatus, { array, parent, dir }: GraphContext): string | undefined {
  if (dir === undefined) return undefined;
  if (array) return `${dir}/${nodeId.slice(1)}/${attempts}`;
  return parent === undefined ? `${dir}/${nodeId}/data/${attempts}` : `${dir}/${nodeId}/${attempts}`;
}

/**
 * Returns the context of a node that may be an arm of a branch. In the status, arms are siblings of
 * their branch and name it as their parent. A branch may itself be an arm of another branch.
 */
function branchContext(nodes: Statuses, status: NodeStatus, context: GraphContext): GraphContext {
  const branches: [string, NodeStatus][] = [];
  for (let node = status; node.parentNode !== undefined && branches.length < 100; ) {
    const branch = Object.hasOwn(nodes, node.parentNode) ? nodes[node.parentNode] : undefined;
    if (branch === undefined) break;
    branches.push([node.parentNode, branch]);
    node = branch;
  }
  return branches.reduceRight<GraphContext>((outer, [nodeId, branch]) => {
    const uniqueId = nodeUniqueId({ parent: outer.parent, nodeId });
    return {
      array: false,
      parent: { uniqueId, attempt: branch.attempts ?? 0 },
      dir: attemptDirOf(nodeId, branch, outer),
      items: outer.items,
    };
  }, context);
}

/**
 * True when events are sure to report the end in the status. Events do not report the ends of array
 * items, nor those of branch arms that were not taken, which a status does not distinguish from
 * other skipped nodes.
 */
export function isReportedEnd({ isItem, status }: ResourceNode): boolean {
  const phase = nodeEventPhase(status.phase ?? 0);
  return !isItem && isTerminalNodeEvent(phase) && phase !== NodeExecution_Phase.SKIPPED;
}

export interface EndOfNodeOptions {
  /** Explanation for people why the end is taken from the resource. */
  readonly inferredReason: string;
  /** Nanoseconds since the epoch; the end where the status has none. */
  readonly now: bigint;
  /** Project of the execution, and of those that its nodes start. */
  readonly project: string;
  readonly domain: string;
}

/**
 * Derives the end of a node from the status: phase, error, times, cache status, deck, the execution
 * that it started, and outputs where the status holds them or their URI. The end is assumed: a late
 * event of the end replaces it.
 */
export function endOfNode(node: ResourceNode, { inferredReason, now, project, domain }: EndOfNodeOptions): NodeUpdate {
  const { status, specNodeId, parent, attemptDir } = node;
  const occurredAt = statusTime(status.stoppedAt) ?? now;
  const phase = nodeEventPhase(status.phase);
  return {
    phase,
    occurredAt,
    reportedAt: occurredAt,
    startedAt: statusTime(status.startedAt),
    inferredReason,
    // The status of a node that succeeded or timed out keeps the error of an earlier attempt, as in
    // Go Flyte.
    error: status.error && phase === NodeExecution_Phase.FAILED ? statusError(status.error) : undefined,
    outputUri: status.outputUri,
    outputs: status.outputs === undefined ? undefined : decodeBase64(status.outputs),
    inputUri: "",
    deckUri: deckOf(status, attemptDir),
    target: targetOf(status, { project, domain }),
    dynamicJobSpecUri: "",
    dynamicWorkflowUri: "",
    parentNodeId: parent?.uniqueId,
    retryGroup: parent === undefined ? "" : String(parent.attempt),
    specNodeId,
    eventVersion: 1,
    isParent: status.subNodeStatus !== undefined,
    isDynamic: false,
    isArray: status.arrayNodeStatus !== undefined,
  };
}

function deckOf({ deckUri = "" }: NodeStatus, attemptDir: string | undefined): string {
  if (deckUri === "" || deckUri.includes("://")) return deckUri;
  return attemptDir === undefined ? "" : `${attemptDir}/${deckUri}`;
}

function targetOf(
  { childExecution: name, catalog }: NodeStatus,
  projectDomain: Pick<EndOfNodeOptions, "project" | "domain">,
): NodeTarget | undefined {
  if (name !== undefined) return executionTarget(create(WorkflowExecutionIdentifierSchema, { ...projectDomain, name }));
  if (catalog?.key === undefined) return undefined;
  return taskTarget({
    checkpointUri: "",
    cacheStatus: catalog.status,
    catalogKey: fromBinary(CatalogMetadataSchema, decodeBase64(catalog.key)),
  });
}
