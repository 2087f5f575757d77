import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { isTerminalNodeEvent } from "@flyte-ts/domain/phase";
import {
  type NodeUpdate,
  inferAttemptEnd,
  type ResourceNode,
  foldTask,
  type TaskUpdate,
  taskEventSeq,
  timestampOf,
} from "@flyte-ts/execution-state";
import { ExecutionErrorSchema, NodeExecution_Phase, TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type TaskExecutionEvent, TaskExecutionEventSchema } from "@flyte-ts/idl/flyteidl/event/event_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { nonTerminalRows, attemptStates } from "../../executions/index.js";
import { type CompletionDeps, endOf, type ExecutionWithRowId } from "./complete-nodes.js";

/** Maximum of attempts of one execution per call. */
const ROWS = 10_000;

/**
 * Backfills attempts without a terminal event whose nodes are terminal in the resource: the last
 * attempt of a node gets the node's result. A late event replaces the backfilled state. Returns the
 * number of written rows.
 *
 * @throws BlobError while the blob store cannot report whether outputs exist.
 */
export async function completeAttempts(
  deps: CompletionDeps,
  execution: ExecutionWithRowId,
  nodes: ReadonlyMap<string, ResourceNode>,
): Promise<number> {
  const open = (await nonTerminalRows.findNonTerminalAttempts(deps.db, execution.rowId, ROWS)).filter(({ node }) =>
    isTerminalNodeEvent(node),
  );
  if (open.length === 0) return 0;
  const stored = await attemptStates.loadTasks(
    deps.db,
    open.map(({ key }) => key),
  );
  const ends = new Map<string, { readonly write: attemptStates.TaskWrite; readonly event: Omit<attemptStates.TaskEventWrite, "rowId"> }>();
  for (const [index, task] of open.entries()) {
    const before = stored[index];
    const node = nodes.get(task.key.nodeId);
    if (before === undefined || before === "no-node" || node === undefined) continue;
    const update = attemptEnd(task, { node: await endOf(deps, execution, node), execution });
    const write = { ...task.key, state: foldTask(before.state, update, before.state.phaseSeq), revision: before.revision + 1 };
    // Stores the event just below the sequence number of the terminal event, so that a late
    // terminal event can still take its place in the history.
    ends.set(attemptStates.taskKeyText(task.key), { write, event: { order: taskEventSeq(update.phase, 0) - 1n, event: update.event } });
  }
  return save(deps.db, ends);
}

async function save(
  db: Queryable,
  ends: ReadonlyMap<string, { readonly write: attemptStates.TaskWrite; readonly event: Omit<attemptStates.TaskEventWrite, "rowId"> }>,
): Promise<number> {
  if (ends.size === 0) return 0;
  const saved = await attemptStates.saveTasks(
    db,
    [...ends.values()].map(({ write }) => write),
  );
  await attemptStates.appendTaskEvents(
    db,
    [...saved].flatMap(([key, rowId]) => {
      const end = ends.get(key);
      return end === undefined ? [] : [{ ...end.event, rowId }];
    }),
  );
  return saved.size;
}

interface AttemptEnd {
  readonly node: NodeUpdate;
  readonly execution: ExecutionWithRowId;
}

function attemptEnd({ key, isLast }: nonTerminalRows.NonTerminalAttempt, { node, execution }: AttemptEnd): TaskUpdate {
  const { phase, reason } = inferAttemptEnd({ node: node.phase, isLastAttempt: isLast });
  const succeeded = isLast && node.phase === NodeExecution_Phase.SUCCEEDED;
  const update = {
    phase,
    phaseVersion: 0,
    occurredAt: node.occurredAt,
    reportedAt: node.reportedAt,
    inputUri: "",
    inferredReason: reason,
    outputUri: succeeded ? node.outputUri : undefined,
    outputs: succeeded ? node.outputs : undefined,
  };
  const event = create(TaskExecutionEventSchema, {
    taskId: { resourceType: ResourceType.TASK, ...key.task },
    parentNodeExecutionId: {
      nodeId: key.nodeId,
      executionId: { project: execution.project, domain: execution.domain, name: execution.name },
    },
    retryAttempt: key.retryAttempt,
    phase,
    occurredAt: timestampOf(node.occurredAt),
    outputResult: resultOf(node, { isLast, phase }),
  });
  return { ...update, event: toBinary(TaskExecutionEventSchema, event) };
}

function resultOf(
  { outputUri, error }: NodeUpdate,
  { isLast, phase }: { readonly isLast: boolean; readonly phase: TaskExecution_Phase },
): TaskExecutionEvent["outputResult"] {
  if (phase === TaskExecution_Phase.SUCCEEDED && outputUri !== undefined) return { case: "outputUri", value: outputUri };
  if (isLast && phase === TaskExecution_Phase.FAILED && error !== undefined)
    return { case: "error", value: fromBinary(ExecutionErrorSchema, error.bytes) };
  return { case: undefined };
}
