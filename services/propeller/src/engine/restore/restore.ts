import { isTerminalNode, isTerminalWorkflow, nodeEventPhase, NodePhase, TaskPhase, WorkflowPhase } from "@flyte-ts/domain/phase";
import type { NodeStatus, WorkflowStatus } from "@flyte-ts/workflow-crd/status";
import { armsOf } from "../graph/arms.js";
import { END_NODE } from "../graph/index-graph.js";
import type { ChildState } from "../graph/node-calls.js";
import { NOT_STARTED, type RuntimeNode, type Scope } from "../graph/runtime.js";
import { SUB_WORKFLOW_FAILING } from "../status/update-phase.js";
import { fromRfc3339, latestPossibleMs, republishedAtMs } from "../time/rfc3339.js";
import { itemIndex } from "../array/items.js";
import { MAX_ERROR_MESSAGE } from "../errors/bound-message.js";
import { errorFromPlain } from "../errors/error-json.js";
import { addItem, ARRAY_FAILING, restoreItemCount, enterArrayScope } from "../lifecycle/reconcile-array.js";
import { recordItemPhase } from "../events/item-changes.js";
import { scheduleTimers } from "../requests/requests.js";
import { decodeOutputs, areOutputsNeeded, releaseUpstreamOutputs } from "../data/outputs.js";
import { addFailureNode, enterScope } from "../state/scope.js";
import { markNeverReached, publishAborted } from "../lifecycle/end-node.js";
import { markStarted } from "../state/scheduler.js";
import { ABORT_REASON, childAbortReason, ROOT_REASON, abortNode, abortScope } from "../abort/abort.js";
import { republishProgress, republishRecentEnds } from "./republish.js";
import { restoreBlocked } from "../requests/blocked-attempt.js";
import { publishWorkflowEvent } from "../events/publish-event.js";
import type { RunState } from "../state/run-state.js";
import { publishTerminalEvent } from "../lifecycle/workflow-phase.js";

type Statuses = Readonly<Record<string, NodeStatus>>;

/** Builds the run state from a stored status, possibly of another process. */
export function restore(state: RunState, status: WorkflowStatus): void {
  restoreScope(state, state.root, status.nodeStatus ?? {});
  state.observation.restoreSpeculation(status.phase !== WorkflowPhase.Ready);
  const { root } = state;
  if (status.error !== undefined) root.error = status.error;
  if (status.failedNode !== undefined) root.failedNodeId = status.failedNode;
  if (status.phase === WorkflowPhase.Failing) root.stage = "aborting";
  else if (status.phase === WorkflowPhase.HandlingFailureNode) {
    root.stage = "handlingFailure";
    if (root.failureNode === undefined && root.graph.onFailure !== undefined) addFailureNode(root, root.graph.onFailure);
  } else if (isTerminalWorkflow(status.phase)) root.stage = "done";
}

export function restoreScope(state: RunState, scope: Scope, statuses: Statuses): void {
  for (const [id, status] of Object.entries(statuses)) {
    const node = scope.nodes.get(id) ?? failureNodeOf(scope, id);
    if (node === undefined) continue;
    state.status.restoreNode(node, status);
  }
  for (const node of scope.nodes.values()) if (node.status !== NOT_STARTED) restoreNode(state, node);
  for (const node of scope.nodes.values()) {
    if (node.hasSucceeded || (node.started && node.id === END_NODE)) markAncestorsMaybeSucceeded(node);
    if (!node.ended) continue;
    releaseUpstreamOutputs(state, node);
    // An arm that had not started when its branch was aborted left no trace.
    for (const idle of armsOf(node)) if (!idle.ended && !idle.started) markNeverReached(idle);
  }
}

/**
 * Marks ancestors as possibly succeeded: an interrupted abort may have hidden their end, and
 * dependents may have started.
 */
function markAncestorsMaybeSucceeded(node: RuntimeNode): void {
  const above = node.branch ?? (node.id === END_NODE ? node.scope.owner : undefined);
  if (above === undefined || above.isTerminal) return;
  above.readiness.setMaybeSucceeded(true);
  markAncestorsMaybeSucceeded(above);
}

function failureNodeOf(scope: Scope, id: string): RuntimeNode | undefined {
  const model = scope.graph.onFailure;
  return model?.id === id ? addFailureNode(scope, model) : undefined;
}

function restoreNode(state: RunState, node: RuntimeNode): void {
  const { status, scope } = node;
  state.errors.add(status.error);
  if (isTerminalNode(status.phase)) {
    node.lifecycle.end(latestPossibleMs(status.stoppedAt));
    if (node !== scope.failureNode) scope.openNodes--;
    if (node.hasFailed && node.branch === undefined) {
      scope.hasFailure = true;
      if (scope.failedNodeId === "") scope.failedNodeId = node.id;
    }
    restoreOutputs(state, node);
    countKeptStatuses(state, node.status.subNodeStatus ?? {});
    // A recovered node started no child, or names the child of the recovered execution.
    if (status.phase === NodePhase.Succeeded && node.model.target.kind === "launchPlan") node.changeCalls().setHasChildExecution(true);
    return;
  }
  // A chosen arm has a status before it starts.
  if (status.phase === NodePhase.NotYetStarted) return;
  markStarted(state, node);
  node.readiness.setMaybeAheadOfStatus(true);
  node.changeAttempt().restore({
    queuedAt: latestPossibleMs(status.queuedAt),
    startedAt: latestPossibleMs(status.laStartedAt),
    supersededAt: node.attempt > 0 ? latestPossibleMs(status.lastUpdatedAt) : undefined,
  });
  const childState = restoredChildState(node);
  if (childState === "exists") node.changeCalls().childCreated();
  else if (childState === "requested") node.changeCalls().setChildState("requested");
  // Nodes below it are known once its graph has been read again.
  if (status.dynamicNodeStatus !== undefined) state.usage.releaseSlot(node);
  if (node.model.target.kind === "subWorkflow") restoreChildScope(state, node, node.model.target.workflow);
  else if (node.model.target.kind === "array") restoreArray(state, node);
}

/** A child may exist as soon as the node was queued; one being terminated may still run. */
function restoredChildState({ model, status }: RuntimeNode): ChildState {
  if (model.target.kind !== "launchPlan" || status.retryAt !== undefined) return "none";
  return status.workflowNodeStatus === undefined ? "requested" : "exists";
}

function restoreOutputs(state: RunState, node: RuntimeNode): void {
  if (node.status.outputs === undefined) return;
  const bytes = Buffer.byteLength(node.status.outputs, "base64");
  if (!areOutputsNeeded(node)) {
    state.outputBudget.addKept(bytes);
    return;
  }
  state.outputBudget.addInline(node, bytes);
  // The parent node may still have to pass these outputs on.
  if (node.branch !== undefined || node.id === END_NODE) node.changeData().setOutputs(decodeOutputs(node.status.outputs));
}

/** Statuses below ended nodes count against the same limits as before the restart. */
function countKeptStatuses(state: RunState, statuses: Statuses): void {
  for (const { outputs, subNodeStatus } of Object.values(statuses)) {
    state.outputBudget.addKeptNodes(1);
    if (outputs !== undefined) state.outputBudget.addKept(Buffer.byteLength(outputs, "base64"));
    if (subNodeStatus !== undefined) countKeptStatuses(state, subNodeStatus);
  }
}

function restoreChildScope(state: RunState, node: RuntimeNode, reference: string): void {
  const graph = node.scope.definitions.subWorkflows.get(reference);
  const { subNodeStatus, workflowNodeStatus } = node.status;
  if (graph === undefined || (subNodeStatus === undefined && workflowNodeStatus === undefined)) return;
  const childScope = enterScope(state, graph, node);
  restoreScope(state, childScope, subNodeStatus ?? {});
  state.status.restoreChildScope(node, childScope);
  if (workflowNodeStatus?.phase !== SUB_WORKFLOW_FAILING) return;
  const { executionError } = workflowNodeStatus;
  childScope.error = executionError === undefined ? { code: "SubworkflowNodeFailing", message: "" } : errorFromPlain(executionError);
  childScope.stage = childScope.failureNode === undefined ? "aborting" : "handlingFailure";
}

/** Restores the items of an entered array; those without a status have not started. */
function restoreArray(state: RunState, node: RuntimeNode): void {
  const { arrayNodeStatus, subNodeStatus } = node.status;
  const attempts = arrayNodeStatus?.subattempts;
  // An empty array has no counts.
  const size = attempts && (attempts.count ?? 0);
  if (arrayNodeStatus === undefined || size === undefined) return;
  const childScope = enterArrayScope(state, node, size);
  const { array } = childScope;
  if (array === undefined) return;
  for (const id of Object.keys(subNodeStatus ?? {})) addItem(childScope, array, itemIndex(id));
  restoreScope(state, childScope, subNodeStatus ?? {});
  state.status.restoreChildScope(node, childScope);
  for (const item of childScope.nodes.values()) {
    restoreItemCount(item, array);
    if (item.ended) recordItemPhase(state, item, nodeEventPhase(item.status.phase));
  }
  if (arrayNodeStatus.phase !== ARRAY_FAILING) return;
  const { executionError } = arrayNodeStatus;
  childScope.error = executionError === undefined ? array.failures.error(MAX_ERROR_MESSAGE) : errorFromPlain(executionError);
  childScope.stage = "aborting";
}

/**
 * Follows `restore`: resends requests to run or abort, and republishes events that may have been
 * lost.
 */
export function resumeRun(state: RunState): void {
  if (isTerminalWorkflow(state.status.workflow.phase)) {
    markAllAbortedEnded(state, state.root, { reason: state.status.workflow.phase === WorkflowPhase.Aborted ? ABORT_REASON : ROOT_REASON });
    republishRecentEnds(state);
    if (state.end.finalization === "none") publishTerminalEvent(state, "afterWrite");
    return;
  }
  markAbortedEnded(state, state.root);
  publishWorkflowEvent(state, state.status.workflow.phase as WorkflowPhase, workflowEventFacts(state), "immediate");
  resumeScope(state, state.root);
  republishRecentEnds(state);
  if (state.root.stage === "aborting") abortScope(state, state.root, ROOT_REASON);
}

/** Resumes a graph that was restored later than the others. */
export function resumeChildScope(state: RunState, scope: Scope): void {
  markAbortedEnded(state, scope);
  resumeScope(state, scope);
}

function workflowEventFacts(state: RunState) {
  const { phase, startedAt, lastUpdatedAt, error } = state.status.workflow;
  if (phase === WorkflowPhase.Running) return { occurredAt: republishedAtMs(startedAt, state.observation.now) ?? state.observation.now };
  return { occurredAt: republishedAtMs(lastUpdatedAt, state.observation.now) ?? state.observation.now, error };
}

function resumeScope(state: RunState, scope: Scope): void {
  for (const node of scope.nodes.values()) {
    if (node.ended || !node.started) continue;
    if (node.childScope !== undefined) resumeScope(state, node.childScope);
    republishProgress(state, node);
    resumeNode(state, node);
  }
  if (scope.owner !== undefined && scope.stage === "aborting") abortScope(state, scope, childAbortReason(scope.owner));
  state.queues.enqueueScope(scope);
}

function resumeNode(state: RunState, node: RuntimeNode): void {
  const { status } = node;
  switch (status.phase) {
    case NodePhase.Failing:
    case NodePhase.TimingOut:
      resumeAbort(state, node);
      return;
    case NodePhase.RetryableFailure:
      if (status.retryAt === undefined) resumeAbort(state, node);
      else node.changeAttempt().superseded(latestPossibleMs(status.lastUpdatedAt));
      break;
    default:
      break;
  }
  restoreBlocked(state, node);
  scheduleTimers(state, node);
  state.queues.enqueueNode(node);
}

/** Ends nodes that were aborted and published so, but whose stored phase still says running. */
function markAbortedEnded(state: RunState, scope: Scope): void {
  // While the failure node runs, all others are aborted.
  if (scope.stage === "handlingFailure") {
    const reason = scope.owner === undefined ? ROOT_REASON : childAbortReason(scope.owner);
    markAllAbortedEnded(state, scope, { reason, except: scope.failureNode });
  }
  for (const node of scope.nodes.values()) {
    if (node.ended || !node.started) continue;
    const { status } = node;
    const aborted = status.TaskNodeStatus?.phase === TaskPhase.Aborted && status.phase !== NodePhase.RetryableFailure;
    // An arm that was aborted with its branch, which has ended otherwise or waits for its next
    // attempt.
    const left = node.branch?.ended === true || node.branch?.status.retryAt !== undefined;
    if (node.childScope !== undefined) {
      if (left || status.retryAt !== undefined) closeScope(state, node.childScope, childAbortReason(node));
      else markAbortedEnded(state, node.childScope);
    }
    if (aborted || left) markEnded(state, node);
  }
}

/** Ends a graph that was aborted with its attempt: nothing of it starts or continues. */
function closeScope(state: RunState, scope: Scope, reason: string): void {
  markAllAbortedEnded(state, scope, { reason });
  scope.stage = "done";
}

/**
 * Ends all aborted nodes of a graph: they keep their phase; the status of the graph shows that they
 * have ended.
 */
function markAllAbortedEnded(
  state: RunState,
  scope: Scope,
  { reason, except }: { reason: string; except?: RuntimeNode | undefined },
): void {
  for (const node of scope.nodes.values()) {
    if (node.ended || !node.started || node === except) continue;
    if (node.childScope !== undefined) markAllAbortedEnded(state, node.childScope, { reason });
    publishAborted(state, node, reason, "immediate");
    markEnded(state, node);
  }
}

/** Ends a node that its parent aborted. */
function markEnded(state: RunState, node: RuntimeNode): void {
  node.lifecycle.end(fromRfc3339(node.status.TaskNodeStatus?.updAt));
  state.usage.nodeEnded(node);
  if (node !== node.scope.failureNode) node.scope.openNodes--;
  state.usage.releaseSlot(node);
}

/** Repeats the abort that a deadline caused before the restart. */
function resumeAbort(state: RunState, node: RuntimeNode): void {
  abortNode(state, node, node.status.message ?? "");
  scheduleTimers(state, node);
}
