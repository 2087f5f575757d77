import type { BlobStore } from "@flyte-ts/blobstore";
import { isTerminalNodeEvent, nodeEventPhase } from "@flyte-ts/domain/phase";
import {
  ABORT_SEQ,
  endOfNode,
  foldNode,
  isReportedEnd,
  nanosOfDate,
  type NodeUpdate,
  type ResourceNode,
  resourceNodes,
} from "@flyte-ts/execution-state";
import { NodeExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Queryable } from "@flyte-ts/postgres";
import type { EventsDeps } from "../deps.js";
import { namespaceOf } from "../../platform/index.js";
import { type executionIds, type executionQueries, nodeStates } from "../../executions/index.js";
import { findCluster, getOwnResource, type LaunchKube } from "../../clusters/index.js";
import { nodeStatusesOf } from "./node-statuses.js";

export interface ResourceDeps extends Pick<EventsDeps, "db" | "blobs" | "config" | "logger"> {
  readonly clusters: readonly { readonly name: string; readonly weight: number; readonly kube: Pick<LaunchKube, "get"> }[];
  readonly health?: EventsDeps["health"];
}

/** An execution with its row id. */
export interface ExecutionWithRowId extends executionIds.ExecutionName {
  readonly rowId: bigint;
}

/**
 * Nodes in a resource; `gone` without a resource, `away` while its data plane or the blob store is
 * unavailable.
 */
export type FoundNodes = ReadonlyMap<string, ResourceNode> | "gone" | "away";

/** Reads the nodes of an execution from the status of its resource. Never rejects. */
export async function nodesInResource(deps: ResourceDeps, execution: executionQueries.PlacedExecution): Promise<FoundNodes> {
  const { project, domain, name } = execution;
  const dataPlane = findCluster(deps.clusters, execution.cluster);
  if (dataPlane === undefined) return "gone";
  if (deps.health?.unhealthyReason(dataPlane.name) !== undefined) return "away";
  const namespace = namespaceOf(deps.config.namespaceTemplate, project, domain);
  try {
    const object = await getOwnResource(dataPlane.kube, { namespace, owner: execution });
    if (object?.status === undefined) return "gone";
    return resourceNodes(await nodeStatusesOf(deps.blobs, object.status), object.status);
  } catch (error) {
    deps.logger.warn({ execution: `${project}/${domain}/${name}`, error: String(error) }, "resource of an ended execution cannot be read");
    return "away";
  }
}

/** Rows per read and write. */
const ROWS = 1_000;
/** Maximum of retries after concurrent writes. */
const ROUNDS = 5;

/** Text for users, on a node without a terminal event. */
export const FROM_RESOURCE = "no event reported the end of this node: it is taken from the execution's resource";

/**
 * Backfills nodes without a terminal event, or without any event, from the resource. A late event
 * replaces the backfilled state. Returns the number of written rows.
 *
 * @throws BlobError while the blob store cannot report whether outputs exist.
 */
export async function completeNodes(
  deps: CompletionDeps,
  execution: ExecutionWithRowId,
  nodes: ReadonlyMap<string, ResourceNode>,
): Promise<number> {
  const ended = [...nodes.values()].filter(({ status }) => isTerminalNodeEvent(nodeEventPhase(status.phase ?? 0)));
  let written = 0;
  for (let at = 0; at < ended.length; at += ROWS) written += await completePart(deps, execution, ended.slice(at, at + ROWS));
  return written;
}

export interface CompletionDeps {
  readonly db: Queryable;
  readonly blobs: Pick<BlobStore, "head">;
}

async function completePart(deps: CompletionDeps, execution: ExecutionWithRowId, nodes: readonly ResourceNode[]): Promise<number> {
  let written = 0;
  // Rows with concurrent writes are retried in the next round.
  for (let left: readonly ResourceNode[] = nodes, rounds = 0; left.length > 0 && rounds < ROUNDS; rounds++) {
    const saved = await completeOnce(deps, execution, left);
    written += saved.written;
    left = saved.left;
  }
  return written;
}

async function completeOnce(
  deps: CompletionDeps,
  execution: ExecutionWithRowId,
  nodes: readonly ResourceNode[],
): Promise<{ readonly written: number; readonly left: readonly ResourceNode[] }> {
  const { db } = deps;
  const executionId = execution.rowId;
  const stored = await nodeStates.loadNodes(
    db,
    nodes.map(({ uniqueId: nodeId }) => ({ executionId, nodeId })),
  );
  const writes: nodeStates.NodeWrite[] = [];
  for (const node of nodes) {
    const nodeId = node.uniqueId;
    const before = stored.get(nodeStates.nodeKeyText({ executionId, nodeId }));
    if (before === undefined ? !isReportedEnd(node) : isTerminalNodeEvent(before.state.phase)) continue;
    const update = await endOf(deps, execution, node);
    const state = foldNode(before?.state, update, before?.state.phaseSeq ?? ABORT_SEQ);
    writes.push({ executionId, nodeId, state, revision: (before?.revision ?? 0) + 1 });
  }
  const saved = writes.length === 0 ? new Set<string>() : await nodeStates.saveNodes(db, writes);
  const lost = new Set(writes.filter((write) => !saved.has(nodeStates.nodeKeyText(write))).map(({ nodeId }) => nodeId));
  return { written: saved.size, left: nodes.filter(({ uniqueId }) => lost.has(uniqueId)) };
}

/** Derives the end of a node from its resource and the blob store. */
export function endOf({ blobs }: CompletionDeps, { project, domain }: ExecutionWithRowId, node: ResourceNode): Promise<NodeUpdate> {
  return withOutputs(blobs, node, endOfNode(node, { inferredReason: FROM_RESOURCE, now: nanosOfDate(new Date()), project, domain }));
}

/** Adds the URI of a task's outputs if the blob exists. */
async function withOutputs(blobs: Pick<BlobStore, "head">, { attemptDir }: ResourceNode, update: NodeUpdate): Promise<NodeUpdate> {
  const succeeded = update.phase === NodeExecution_Phase.SUCCEEDED || update.phase === NodeExecution_Phase.RECOVERED;
  if (!succeeded || update.outputUri !== undefined || attemptDir === undefined) return update;
  const uri = `${attemptDir}/outputs.pb`;
  if (update.outputs !== undefined || (await blobs.head(uri)) !== undefined) return { ...update, outputUri: uri };
  return update;
}
