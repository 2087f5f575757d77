import { isTerminalNodeEvent, isTerminalTaskEvent, isTerminalWorkflowEvent } from "@flyte-ts/domain/phase";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { NodeExecutionEvent, TaskExecutionEvent, WorkflowExecutionEvent } from "@flyte-ts/idl/flyteidl/event/event_pb";
import { Code, RpcError } from "@flyte-ts/rpc";
import {
  foldNode,
  foldTask,
  foldWorkflow,
  nextSeq,
  nextWorkflowSeq,
  readNodeEvent,
  readTaskEvent,
  readWorkflowEvent,
  supersedesInferredEnd,
} from "@flyte-ts/execution-state";
import type { EventsDeps } from "../deps.js";
import {
  alreadyEnded,
  offloadDynamicWorkflow,
  publishCompletions,
  recordActivity,
  setExecutionCluster,
  TooManyConflictsError,
  updateExecutionState,
  phaseNames,
  executionIds,
  executionStates,
  nodeStates,
  attemptStates,
} from "../../executions/index.js";
import { alreadyExists, notFound } from "../../platform/index.js";
import { offloadNames } from "../offload-names.js";
import { asInvalidArgument, assertProducerCluster, isClusterProducer } from "./validate-event.js";
import { nodeTransition, taskTransition, workflowTransition } from "./transition.js";

export type EventRecorderDeps = Pick<EventsDeps, "db" | "bus" | "blobs" | "clock" | "config" | "logger" | "publishChanged">;

// Records events from RPCs, one at a time and in order: each follows the stored state, and one that
// does not change the phase is rejected with the reason.

const ATTEMPTS = 20;

/** @throws RpcError ALREADY_EXISTS, FAILED_PRECONDITION or NOT_FOUND. */
export async function recordWorkflowEvent(
  deps: EventRecorderDeps,
  id: NonNullable<WorkflowExecutionEvent["executionId"]>,
  event: WorkflowExecutionEvent,
): Promise<void> {
  const { before, after } = await updateExecutionState(deps.db, id, {
    apply: ({ state, cluster }) => {
      const [from, to] = [phaseNames.workflowPhaseName(state.phase), phaseNames.workflowPhaseName(event.phase)];
      const transition = workflowTransition(state.phase, event.phase);
      if (transition === "repeated")
        throw alreadyExists(`This phase ${to} was already recorded for workflow execution ${executionIds.executionIdText(id)}`);
      if (!claimsExecution(event, cluster)) assertProducerCluster(event.producerId, cluster);
      if (transition === "ended")
        throw alreadyEnded(`Invalid phase change from ${from} to ${to} for workflow execution ${executionIds.executionIdText(id)}`, from);
      if (transition === "backward") {
        throw new RpcError(
          Code.FAILED_PRECONDITION,
          `Cannot go from ${from} to ${to} for workflow execution ${executionIds.executionIdText(id)}`,
        );
      }
      const update = asInvalidArgument(() => readWorkflowEvent(event, {}, offloadNames(deps.config)));
      return foldWorkflow(state, update, nextWorkflowSeq(state));
    },
    ...(isQueuedByCluster(event) && {
      inTransaction: async (tx, { rowId, cluster }) => {
        if (claimsExecution(event, cluster)) await setExecutionCluster(tx, rowId, event.producerId);
      },
    }),
  });
  deps.publishChanged?.([before.rowId]);
  if (isTerminalWorkflowEvent(after.phase)) await publishCompletions(deps, [{ execution: id, rowId: before.rowId, phase: after.phase }]);
  else await recordActivity(deps.db, [before.rowId]);
}

/**
 * True when the QUEUED event of a named cluster claims an execution that has no cluster. With only
 * one cluster, admin chooses none; the execution then belongs to the cluster that sends the event.
 */
function claimsExecution(event: WorkflowExecutionEvent, cluster: string): boolean {
  return cluster === "" && isQueuedByCluster(event);
}

function isQueuedByCluster({ phase, producerId }: WorkflowExecutionEvent): boolean {
  return phase === WorkflowExecution_Phase.QUEUED && isClusterProducer(producerId);
}

/** @throws RpcError ALREADY_EXISTS, FAILED_PRECONDITION or NOT_FOUND. */
export async function recordNodeEvent(deps: EventRecorderDeps, id: executionIds.NodeId, event: NodeExecutionEvent): Promise<void> {
  const { db } = deps;
  const execution = await executionStates.findExecutionState(db, id.executionId);
  if (execution === undefined)
    throw notFound(
      `Failed to get existing execution id: [${executionIds.executionIdText(id.executionId)}] with err: execution does not exist`,
    );
  assertProducerCluster(event.producerId, execution.cluster);
  const read = asInvalidArgument(() => readNodeEvent(event, {}, offloadNames(deps.config)));
  const update = await offloadDynamicWorkflow({ blobs: deps.blobs, ...deps.config.storage }, id, read);
  const key: nodeStates.NodeKey = { executionId: execution.rowId, nodeId: id.nodeId };
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const stored = (await nodeStates.loadNodes(db, [key])).get(nodeStates.nodeKeyText(key));
    if (stored === undefined) await requireParents(deps, { id, event, execution });
    else {
      const transition =
        supersedesInferredEnd(stored.state, update) && isTerminalNodeEvent(event.phase)
          ? "apply"
          : nodeTransition(stored.state.phase, event.phase);
      const [from, to] = [phaseNames.nodePhaseName(stored.state.phase), phaseNames.nodePhaseName(event.phase)];
      if (transition === "repeated") throw alreadyExists(`This phase was already recorded ${to} for ${executionIds.nodeIdText(id)}`);
      // As in Flyte, the error has the phase of the event, not that of the node.
      if (transition !== "apply")
        throw alreadyEnded(`Invalid phase change from ${from} to ${to} for node execution ${executionIds.nodeIdText(id)}`, to);
      await requireChild(deps, event);
    }
    const state = foldNode(stored?.state, update, nextSeq(stored?.state));
    const saved = await nodeStates.saveNodes(db, [{ ...key, state, revision: (stored?.revision ?? 0) + 1 }]);
    if (saved.size !== 1) continue;
    deps.publishChanged?.([execution.rowId]);
    if (!isTerminalNodeEvent(event.phase)) await recordActivity(db, [execution.rowId]);
    return;
  }
  throw new TooManyConflictsError(`node execution ${executionIds.nodeIdText(id)} could not be changed`);
}

async function requireParents(
  { db }: EventRecorderDeps,
  {
    id,
    event,
    execution,
  }: { readonly id: executionIds.NodeId; readonly event: NodeExecutionEvent; readonly execution: executionStates.StoredExecutionState },
): Promise<void> {
  const parentTask = event.parentTaskMetadata?.id;
  if (parentTask !== undefined) {
    executionIds.checkTaskId(parentTask);
    const [found] = await attemptStates.loadTasks(db, [taskKeyOf(parentTask, execution.rowId)]);
    if (found === undefined || found === "no-node") throw executionIds.taskNotFound(parentTask);
  }
  if (event.parentNodeMetadata === undefined) return;
  const key: nodeStates.NodeKey = { executionId: execution.rowId, nodeId: event.parentNodeMetadata.nodeId };
  if (!(await nodeStates.loadNodes(db, [key])).has(nodeStates.nodeKeyText(key)))
    throw executionIds.nodeNotFound({ ...id, nodeId: key.nodeId });
}

/**
 * Requires the child execution that the node reports. The first event of a node is not checked, as
 * in Flyte.
 */
async function requireChild({ db }: EventRecorderDeps, { targetMetadata }: NodeExecutionEvent): Promise<void> {
  const child = targetMetadata.case === "workflowNodeMetadata" ? targetMetadata.value.executionId : undefined;
  if (child !== undefined && (await executionStates.findExecutionState(db, child)) === undefined)
    throw executionIds.executionNotFound(child);
}

/** @throws RpcError ALREADY_EXISTS, FAILED_PRECONDITION or NOT_FOUND. */
export async function recordTaskEvent(deps: EventRecorderDeps, id: executionIds.TaskId, event: TaskExecutionEvent): Promise<void> {
  const { db } = deps;
  const execution = await executionStates.findExecutionState(db, id.nodeExecutionId.executionId);
  if (execution === undefined) throw executionIds.executionNotFound(id.nodeExecutionId.executionId);
  assertProducerCluster(event.producerId, execution.cluster);
  const update = asInvalidArgument(() => readTaskEvent(event, {}, offloadNames(deps.config)));
  const key = taskKeyOf(id, execution.rowId);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const [stored] = await attemptStates.loadTasks(db, [key]);
    if (stored === "no-node") {
      throw notFound(
        `Failed to get existing node execution id: [${executionIds.nodeIdText(id.nodeExecutionId)}] with err: entry not found`,
      );
    }
    if (stored !== undefined) {
      const transition =
        supersedesInferredEnd(stored.state, update) && isTerminalTaskEvent(update.phase) ? "apply" : taskTransition(stored.state, update);
      const [from, to] = [phaseNames.taskPhaseName(stored.state.phase), phaseNames.taskPhaseName(event.phase)];
      if (transition === "repeated") {
        throw alreadyExists(
          `have already recorded task execution phase ${to} (version: ${event.phaseVersion}) for ${executionIds.taskIdText(id)}`,
        );
      }
      // As in Flyte, the error has the phase of the event, not that of the attempt.
      if (transition !== "apply")
        throw alreadyEnded(`invalid phase change from ${from} to ${to} for task execution ${executionIds.taskIdText(id)}`, to);
    }
    const order = nextSeq(stored?.state);
    const folded = foldTask(stored?.state, update, order);
    // For RPCs, as in Flyte, a version of 0 never resets the stored version, in any phase.
    const state = { ...folded, phaseVersion: folded.phaseVersion || (stored?.state.phaseVersion ?? 0) };
    const saved = await db.transaction(async (tx) => {
      const rowId = (await attemptStates.saveTasks(tx, [{ ...key, state, revision: (stored?.revision ?? 0) + 1 }])).get(
        attemptStates.taskKeyText(key),
      );
      if (rowId !== undefined) await attemptStates.appendTaskEvents(tx, [{ rowId, order, event: update.event }]);
      return rowId !== undefined;
    });
    if (!saved) continue;
    deps.publishChanged?.([execution.rowId]);
    if (!isTerminalTaskEvent(event.phase)) await recordActivity(db, [execution.rowId]);
    return;
  }
  throw new TooManyConflictsError(`task execution ${executionIds.taskIdText(id)} could not be changed`);
}

function taskKeyOf(id: executionIds.TaskId, executionId: bigint): attemptStates.TaskKey {
  return { executionId, nodeId: id.nodeExecutionId.nodeId, task: id.taskId, retryAttempt: id.retryAttempt };
}
