import type { NodeExecution_Phase as NodePhase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { isUnavailable, type Queryable } from "@flyte-ts/postgres";
import {
  foldNode,
  foldTask,
  type NodeUpdate,
  type NodeState,
  type CommonState,
  type ResourceNode,
  type InferredEnd,
  inferNodeEnd,
  inferAttemptEnd,
  type TaskUpdate,
  type TaskState,
} from "@flyte-ts/execution-state";
import type { DispatchDeps } from "../deps.js";
import { markAllTerminal, terminalExecutions, nonTerminalRows, nodeStates, attemptStates } from "../../executions/index.js";
import { completeAttempts, completeNodes, nodesInResource, type ResourceDeps } from "../../events/index.js";

export interface BackfillDeps extends ResourceDeps, Pick<DispatchDeps, "publishChanged"> {}

/** Rows of one execution per round. */
const ROWS = 1_000;

/**
 * Backfills the terminal phases of nodes and attempts, once for each execution that ended `endedMs`
 * ago: events may have been lost. Usually all rows are terminal when the execution becomes terminal
 * (ingest/record-batch.ts). Returns the number of checked executions, or 0 when all failed.
 */
export async function backfillTerminalPhases(
  deps: BackfillDeps,
  { endedMs, limit }: { readonly endedMs: number; readonly limit: number },
): Promise<number> {
  const ended = await terminalExecutions.claimTerminal(deps.db, { endedMs, limit });
  const open = await nonTerminalRows.executionsWithNonTerminalRows(
    deps.db,
    ended.map(({ rowId }) => rowId),
  );
  const settled: bigint[] = [];
  for (const execution of ended) {
    if (!open.has(execution.rowId) || (await tryBackfill(deps, execution))) settled.push(execution.rowId);
  }
  await markAllTerminal(deps.db, settled);
  return settled.length === 0 ? 0 : ended.length;
}

/** A failure must not block the others. */
async function tryBackfill(deps: BackfillDeps, execution: terminalExecutions.TerminalExecution): Promise<boolean> {
  const about = `${execution.project}/${execution.domain}/${execution.name}`;
  try {
    const rows = await backfillExecution(deps, execution);
    deps.publishChanged?.([execution.rowId]);
    deps.logger.warn({ execution: about, rows }, "terminal phases backfilled: events of nodes or attempts were lost");
    return true;
  } catch (error) {
    if (isUnavailable(error)) throw error;
    deps.logger.error({ execution: about, error: String(error) }, "open nodes of an ended execution could not be closed");
    return false;
  }
}

async function backfillExecution(deps: BackfillDeps, execution: terminalExecutions.TerminalExecution): Promise<number> {
  const resource = await loadResourcePhases(deps, execution);
  let rows = await completeNodes(deps, execution, resource);
  rows += await completeAttempts(deps, execution, resource);
  // Rows with concurrent writes are found again; the number decreases with each round.
  for (let more = true; more; ) {
    const nodes = await backfillNodes(deps.db, execution, resource);
    rows += nodes;
    more = nodes > 0;
  }
  for (let more = true; more; ) {
    const tasks = await backfillAttempts(deps.db, execution);
    rows += tasks;
    more = tasks > 0;
  }
  return rows;
}

/** Empty without data plane or resource. */
async function loadResourcePhases(
  deps: BackfillDeps,
  execution: terminalExecutions.TerminalExecution,
): Promise<ReadonlyMap<string, ResourceNode>> {
  const nodes = await nodesInResource(deps, execution);
  return nodes === "away" || nodes === "gone" ? new Map() : nodes;
}

async function backfillNodes(
  db: Queryable,
  execution: terminalExecutions.TerminalExecution,
  resource: ReadonlyMap<string, ResourceNode>,
): Promise<number> {
  const open = await nonTerminalRows.findNonTerminalNodes(db, execution.rowId, ROWS);
  if (open.length === 0) return 0;
  const openIds = new Set(open.map(({ nodeId }) => nodeId));
  // Nodes wait for their parent; nodes in a cycle, which only forged events create, do not.
  const ready = open.filter(({ parentNodeId }) => parentNodeId === undefined || !openIds.has(parentNodeId));
  const chosen = ready.length === 0 ? open : ready;
  const stored = await nodeStates.loadNodes(
    db,
    chosen.map(({ nodeId }) => ({ executionId: execution.rowId, nodeId })),
  );
  const writes = chosen.flatMap(({ nodeId, parent, ofEarlierAttempt }): nodeStates.NodeWrite[] => {
    const before = stored.get(nodeStates.nodeKeyText({ executionId: execution.rowId, nodeId }));
    if (before === undefined) return [];
    const inferred = inferNodeEnd({
      execution: execution.phase,
      parent,
      parentRetried: ofEarlierAttempt,
      resourcePhase: resource.get(nodeId)?.status.phase,
    });
    const state = foldNode(before.state, nodeUpdate(before.state, inferred, execution), before.state.phaseSeq);
    return [{ executionId: execution.rowId, nodeId, state, revision: before.revision + 1 }];
  });
  await nodeStates.saveNodes(db, writes);
  return writes.length;
}

async function backfillAttempts(db: Queryable, execution: terminalExecutions.TerminalExecution): Promise<number> {
  const open = await nonTerminalRows.findNonTerminalAttempts(db, execution.rowId, ROWS);
  if (open.length === 0) return 0;
  const stored = await attemptStates.loadTasks(
    db,
    open.map(({ key }) => key),
  );
  const writes = open.flatMap(({ key, node, isLast }, index): attemptStates.TaskWrite[] => {
    const before = stored[index];
    if (before === undefined || before === "no-node") return [];
    const update = taskUpdate(before.state, inferAttemptEnd({ node, isLastAttempt: isLast }), execution);
    return [{ ...key, state: foldTask(before.state, update, before.state.phaseSeq), revision: before.revision + 1 }];
  });
  await attemptStates.saveTasks(db, writes);
  return writes.length;
}

/** Returns the end of the execution, but no time before the row's own start. */
function endOf({ startedAt, firstAt }: CommonState, { endedAt }: terminalExecutions.TerminalExecution): bigint {
  const began = startedAt ?? firstAt;
  return endedAt > began ? endedAt : began;
}

function nodeUpdate(
  state: NodeState,
  { phase, reason }: InferredEnd<NodePhase>,
  execution: terminalExecutions.TerminalExecution,
): NodeUpdate {
  const at = endOf(state, execution);
  return {
    phase,
    occurredAt: at,
    reportedAt: at,
    inferredReason: reason,
    inputUri: state.inputUri,
    deckUri: state.deckUri,
    dynamicJobSpecUri: state.dynamicJobSpecUri,
    dynamicWorkflowUri: state.dynamicWorkflowUri,
    retryGroup: state.retryGroup,
    specNodeId: state.specNodeId,
    eventVersion: state.eventVersion,
    isParent: state.isParent,
    isDynamic: state.isDynamic,
    isArray: state.isArray,
  };
}

function taskUpdate(
  state: TaskState,
  { phase, reason }: InferredEnd<TaskUpdate["phase"]>,
  execution: terminalExecutions.TerminalExecution,
): TaskUpdate {
  const at = endOf(state, execution);
  const { phaseVersion, inputUri } = state;
  return { phase, phaseVersion, occurredAt: at, reportedAt: at, inputUri, inferredReason: reason, event: new Uint8Array() };
}
