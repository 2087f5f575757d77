import { isTerminalNodeEvent, isTerminalTaskEvent, isTerminalWorkflowEvent } from "@flyte-ts/domain";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { NodeExecutionEvent, TaskExecutionEvent, WorkflowExecutionEvent } from "@flyte-ts/idl/flyteidl/event/event_pb";
import { Code, RpcError } from "@flyte-ts/rpc";
import {
  foldNode,
  nextSeq,
  supersedesInferredEnd,
  readNodeEvent,
  readTaskEvent,
  readWorkflowEvent,
  foldTask,
  foldWorkflow,
  nextWorkflowSeq,
} from "@flyte-ts/execution-state";
import type { AdminDeps } from "../deps.js";
import { moveExecution } from "../cluster/fix-placement.js";
import { changeExecution, TooManyConflicts } from "../execution/change.js";
import {
  checkTaskId,
  executionIdText,
  executionNotFound,
  type NodeId,
  nodeIdText,
  nodeNotFound,
  type TaskId,
  taskIdText,
  taskNotFound,
} from "../execution/identifier.js";
import { findExecutionState, type StoredExecutionState } from "../execution/state.js";
import { alreadyExists, notFound } from "../invalid.js";
import { offloadDynamicWorkflow } from "../node-execution/dynamic-workflow.js";
import { loadNodes, type NodeKey, nodeKeyText, saveNodes } from "../node-execution/store.js";
import { appendTaskEvents, loadTasks, saveTasks, type TaskKey, taskKeyText } from "../task-execution/store.js";
import { noteSignsOfLife } from "../settle/signs-of-life.js";
import { announceEnds } from "../wake/announce-ends.js";
import { offloadNames } from "./offload-names.js";
import { nodePhaseName, taskPhaseName, workflowPhaseName } from "./phase-name.js";
import { alreadyEnded, checkProducer, namesCluster, reading } from "./refuse.js";
import { judgeNode, judgeTask, judgeWorkflow } from "./transition.js";

export type EventDeps = Pick<AdminDeps, "db" | "bus" | "blobs" | "clock" | "config" | "logger" | "changed">;

// Records events from RPCs, one at a time and in order: each follows the stored state, and one that does not change the
// phase is rejected with the reason.

const ATTEMPTS = 20;

/** @throws RpcError ALREADY_EXISTS, FAILED_PRECONDITION or NOT_FOUND (contract §2.7). */
export async function recordWorkflowEvent(
  deps: EventDeps,
  id: NonNullable<WorkflowExecutionEvent["executionId"]>,
  event: WorkflowExecutionEvent,
): Promise<void> {
  const { before, after } = await changeExecution(deps.db, id, {
    decide: ({ state, cluster }) => {
      const [from, to] = [workflowPhaseName(state.phase), workflowPhaseName(event.phase)];
      const verdict = judgeWorkflow(state.phase, event.phase);
      if (verdict === "repeated")
        throw alreadyExists(`This phase ${to} was already recorded for workflow execution ${executionIdText(id)}`);
      if (!claims(event, cluster)) checkProducer(event.producerId, cluster);
      if (verdict === "ended")
        throw alreadyEnded(`Invalid phase change from ${from} to ${to} for workflow execution ${executionIdText(id)}`, from);
      if (verdict === "backward") {
        throw new RpcError(Code.FAILED_PRECONDITION, `Cannot go from ${from} to ${to} for workflow execution ${executionIdText(id)}`);
      }
      const fact = reading(() => readWorkflowEvent(event, {}, offloadNames(deps.config)));
      return foldWorkflow(state, fact, nextWorkflowSeq(state));
    },
    ...(isAnnouncement(event) && {
      also: async (tx, { rowId, cluster }) => {
        if (claims(event, cluster)) await moveExecution(tx, rowId, event.producerId);
      },
    }),
  });
  deps.changed?.([before.rowId]);
  if (isTerminalWorkflowEvent(after.phase)) await announceEnds(deps, [{ execution: id, rowId: before.rowId, phase: after.phase }]);
  else await noteSignsOfLife(deps.db, [before.rowId]);
}

/**
 * A named engine reports with QUEUED that it runs the execution: when admin has only one cluster, and so has chosen
 * none, the execution belongs to that engine's cluster from then on.
 */
function claims(event: WorkflowExecutionEvent, cluster: string): boolean {
  return cluster === "" && isAnnouncement(event);
}

function isAnnouncement({ phase, producerId }: WorkflowExecutionEvent): boolean {
  return phase === WorkflowExecution_Phase.QUEUED && namesCluster(producerId);
}

/** @throws RpcError ALREADY_EXISTS, FAILED_PRECONDITION or NOT_FOUND (contract §2.7). */
export async function recordNodeEvent(deps: EventDeps, id: NodeId, event: NodeExecutionEvent): Promise<void> {
  const { db } = deps;
  const execution = await findExecutionState(db, id.executionId);
  if (execution === undefined)
    throw notFound(`Failed to get existing execution id: [${executionIdText(id.executionId)}] with err: execution does not exist`);
  checkProducer(event.producerId, execution.cluster);
  const read = reading(() => readNodeEvent(event, {}, offloadNames(deps.config)));
  const fact = await offloadDynamicWorkflow({ blobs: deps.blobs, ...deps.config.storage }, id, read);
  const key: NodeKey = { executionId: execution.rowId, nodeId: id.nodeId };
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const stored = (await loadNodes(db, [key])).get(nodeKeyText(key));
    if (stored === undefined) await requireParents(deps, { id, event, execution });
    else {
      const verdict =
        supersedesInferredEnd(stored.state, fact) && isTerminalNodeEvent(event.phase)
          ? "apply"
          : judgeNode(stored.state.phase, event.phase);
      const [from, to] = [nodePhaseName(stored.state.phase), nodePhaseName(event.phase)];
      if (verdict === "repeated") throw alreadyExists(`This phase was already recorded ${to} for ${nodeIdText(id)}`);
      // As in Flyte, the error has the phase of the event, not that of the node.
      if (verdict !== "apply") throw alreadyEnded(`Invalid phase change from ${from} to ${to} for node execution ${nodeIdText(id)}`, to);
      await requireChild(deps, event);
    }
    const state = foldNode(stored?.state, fact, nextSeq(stored?.state));
    const saved = await saveNodes(db, [{ ...key, state, revision: (stored?.revision ?? 0) + 1 }]);
    if (saved.size !== 1) continue;
    deps.changed?.([execution.rowId]);
    if (!isTerminalNodeEvent(event.phase)) await noteSignsOfLife(db, [execution.rowId]);
    return;
  }
  throw new TooManyConflicts(`node execution ${nodeIdText(id)} could not be changed`);
}

async function requireParents(
  { db }: EventDeps,
  { id, event, execution }: { readonly id: NodeId; readonly event: NodeExecutionEvent; readonly execution: StoredExecutionState },
): Promise<void> {
  const parentTask = event.parentTaskMetadata?.id;
  if (parentTask !== undefined) {
    checkTaskId(parentTask);
    const [found] = await loadTasks(db, [taskKeyOf(parentTask, execution.rowId)]);
    if (found === undefined || found === "no-node") throw taskNotFound(parentTask);
  }
  if (event.parentNodeMetadata === undefined) return;
  const key: NodeKey = { executionId: execution.rowId, nodeId: event.parentNodeMetadata.nodeId };
  if (!(await loadNodes(db, [key])).has(nodeKeyText(key))) throw nodeNotFound({ ...id, nodeId: key.nodeId });
}

/** Requires the child execution that the node reports. The first event of a node is not checked, as in Flyte. */
async function requireChild({ db }: EventDeps, { targetMetadata }: NodeExecutionEvent): Promise<void> {
  const child = targetMetadata.case === "workflowNodeMetadata" ? targetMetadata.value.executionId : undefined;
  if (child !== undefined && (await findExecutionState(db, child)) === undefined) throw executionNotFound(child);
}

/** @throws RpcError ALREADY_EXISTS, FAILED_PRECONDITION or NOT_FOUND (contract §2.7). */
export async function recordTaskEvent(deps: EventDeps, id: TaskId, event: TaskExecutionEvent): Promise<void> {
  const { db } = deps;
  const execution = await findExecutionState(db, id.nodeExecutionId.executionId);
  if (execution === undefined) throw executionNotFound(id.nodeExecutionId.executionId);
  checkProducer(event.producerId, execution.cluster);
  const fact = reading(() => readTaskEvent(event, {}, offloadNames(deps.config)));
  const key = taskKeyOf(id, execution.rowId);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const [stored] = await loadTasks(db, [key]);
    if (stored === "no-node") {
      throw notFound(`Failed to get existing node execution id: [${nodeIdText(id.nodeExecutionId)}] with err: entry not found`);
    }
    if (stored !== undefined) {
      const verdict =
        supersedesInferredEnd(stored.state, fact) && isTerminalTaskEvent(fact.phase) ? "apply" : judgeTask(stored.state, fact);
      const [from, to] = [taskPhaseName(stored.state.phase), taskPhaseName(event.phase)];
      if (verdict === "repeated") {
        throw alreadyExists(`have already recorded task execution phase ${to} (version: ${event.phaseVersion}) for ${taskIdText(id)}`);
      }
      // As in Flyte, the error has the phase of the event, not that of the attempt.
      if (verdict !== "apply") throw alreadyEnded(`invalid phase change from ${from} to ${to} for task execution ${taskIdText(id)}`, to);
    }
    const order = nextSeq(stored?.state);
    const folded = foldTask(stored?.state, fact, order);
    // For RPCs, as in Flyte, a version of 0 never resets the stored version, in any phase.
    const state = { ...folded, phaseVersion: folded.phaseVersion || (stored?.state.phaseVersion ?? 0) };
    const saved = await db.transaction(async (tx) => {
      const rowId = (await saveTasks(tx, [{ ...key, state, revision: (stored?.revision ?? 0) + 1 }])).get(taskKeyText(key));
      if (rowId !== undefined) await appendTaskEvents(tx, [{ rowId, order, event: fact.event }]);
      return rowId !== undefined;
    });
    if (!saved) continue;
    deps.changed?.([execution.rowId]);
    if (!isTerminalTaskEvent(event.phase)) await noteSignsOfLife(db, [execution.rowId]);
    return;
  }
  throw new TooManyConflicts(`task execution ${taskIdText(id)} could not be changed`);
}

function taskKeyOf(id: TaskId, executionId: bigint): TaskKey {
  return { executionId, nodeId: id.nodeExecutionId.nodeId, task: id.taskId, retryAttempt: id.retryAttempt };
}
