import { NodePhase, TaskPhase } from "@flyte-ts/domain/phase";
import { DesiredState } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { NodeTarget } from "@flyte-ts/workflow-crd";
import { armsOf, mayBeChosen } from "../graph/arms.js";
import { END_NODE, START_NODE } from "../graph/index-graph.js";
import type { RuntimeNode, Scope } from "../graph/runtime.js";
import { gateCondition } from "../decide/gate.js";
import { changePhase } from "../status/update-phase.js";
import { cancelCalls } from "../dependencies/calls.js";
import { sendAbortRequest, sendCleanupRequest } from "../requests/requests.js";
import { keepReservation, releasePendingReservation, awaitsReservation } from "../dependencies/cache.js";
import { markStarted } from "../state/scheduler.js";
import { enterScope, fitsInstanceLimit } from "../state/scope.js";
import type { RunState } from "../state/run-state.js";

// Reasons shown on aborted nodes, in Go Flyte's wording.
export const ABORT_REASON = "Workflow aborted.";
export const ROOT_REASON = "Some node execution failed, auto-abort.";
const SUB_WORKFLOW_REASON = "subworkflow failed";
export const DYNAMIC_REASON = "Dynamic workflow failed";

/** Reason for aborting the nodes of a nested graph when one of them has failed. */
export function childAbortReason(owner: RuntimeNode): string {
  return owner.graph.isDynamic ? DYNAMIC_REASON : SUB_WORKFLOW_REASON;
}

/** Aborts the graph: starts no node and aborts running ones. */
export function abortScope(state: RunState, scope: Scope, reason: string): void {
  scope.stage = "aborting";
  scope.abortReason = reason;
  for (const node of scope.nodes.values()) {
    if (node.readiness.maybeStarted && !node.ended && node.status.phase === NodePhase.NotYetStarted) abortMaybeStarted(state, node);
    else if (node.started && !node.ended) abortNode(state, node, reason);
    if (node.readiness.maybeSucceeded && !node.hasSucceeded) abortSpeculativeDependents(state, node);
  }
  state.queues.enqueueScope(scope);
}

/** Aborts all that runs of a node. The node is reconciled when that is done, or at once. */
export function abortNode(state: RunState, node: RuntimeNode, reason: string): void {
  if (node.ended) return;
  const again = node.abortReason !== undefined;
  node.lifecycle.abort(reason);
  if (again) return;
  releasePendingReservation(state, node);
  // A child's existence must be known before it can be terminated.
  if (node.calls.childState === "none") cancelCalls(state, node);
  // Running attempts keep the reservation until they are aborted.
  keepReservation(state, node);
  if (node.childScope !== undefined) abortScope(state, node.childScope, reason);
  else if (node.model.target.kind === "branch") abortArm(state, node, reason);
  else if (mayBeRunning(node)) sendAbortRequest(state, node, "afterWrite");
  // An attempt that would have followed can no longer request it.
  else if (awaitsCleanup(node)) sendCleanupRequest(state, node, { attempt: node.attempt, remove: true });
  state.queues.enqueueNode(node);
}

/** True when an attempt may run: this process requested it, or the status shows an earlier one. */
function mayBeRunning(node: RuntimeNode): boolean {
  if (node.currentAttempt.request !== undefined) return node.currentAttempt.request.desired !== DesiredState.ABORT;
  const { phase, retryAt } = node.status;
  if (node.model.target.kind !== "task" || node.data.uncommittedSuccess !== undefined || awaitsReservation(node)) return false;
  if (node.status.dynamicNodeStatus !== undefined) return false;
  // With the next attempt scheduled, the last one has ended.
  return phase !== NodePhase.NotYetStarted && retryAt === undefined;
}

/** True between two attempts when the end of the first one asked for cleanup. */
function awaitsCleanup({ status }: RuntimeNode): boolean {
  return status.retryAt !== undefined && status.TaskNodeStatus?.clean === true;
}

function abortArm(state: RunState, branch: RuntimeNode, reason: string): void {
  for (const arm of armsOf(branch)) {
    if (arm.ended) continue;
    if (arm.started) abortNode(state, arm, reason);
    // According to the status it waited for dependencies.
    else if (branch.readiness.maybeAheadOfStatus && arm.id === branch.status.branchStatus?.finalNodeId) abortMaybeStarted(state, arm);
  }
}

/** True when nothing of the node runs any more. */
export function isIdle(node: RuntimeNode): boolean {
  if (node.currentAttempt.request !== undefined || node.calls.childState !== "none") return false;
  if (node.childScope !== undefined) return node.childScope.activeNodes === 0;
  return armsOf(node).every((arm) => !arm.started || arm.ended);
}

/**
 * Aborts dependents that may run unseen: after a restart the status may lag behind nodes that
 * followed an attempt's success. When such an attempt reports success during an abort, all possible
 * dependents are aborted too. Aborting one that never ran costs a message and an event.
 */
export function abortSpeculativeDependents(state: RunState, node: RuntimeNode): void {
  const { scope } = node;
  if (!state.policy.mayHaveSpeculativeDependents(node)) return;
  node.readiness.setMaybeSucceeded(true);
  if (scope.stage !== "aborting") return;
  for (const id of scope.index.dependents.get(node.id) ?? []) {
    const dependent = scope.nodes.get(id);
    if (dependent !== undefined && mayBeChosen(dependent) && upstreamMaybeSucceeded(dependent)) abortMaybeStarted(state, dependent);
  }
  // A branch succeeds with its arm, a sub-workflow with its end node.
  if (node.branch !== undefined) abortSpeculativeDependents(state, node.branch);
  else if (node.id === END_NODE && scope.owner !== undefined) abortSpeculativeDependents(state, scope.owner);
}

function upstreamMaybeSucceeded(node: RuntimeNode): boolean {
  const { nodes, index } = node.scope;
  return (index.upstream.get(node.id) ?? []).every((id) => {
    const up = nodes.get(id);
    return up !== undefined && (up.hasSucceeded || up.readiness.maybeSucceeded);
  });
}

function abortMaybeStarted(state: RunState, node: RuntimeNode): void {
  if (node.ended || node.abortReason !== undefined) return;
  // Nodes known to have started are aborted in their own state.
  if (node.status.phase !== NodePhase.NotYetStarted) return;
  if (!node.started) markStarted(state, node);
  state.blobReads.unsubscribe(node);
  state.blobWrites.cancel(node);
  node.readiness.setMaybeAheadOfStatus(true);
  node.lifecycle.abort(node.branch?.abortReason ?? node.scope.abortReason);
  const lineage = node.branch === undefined ? {} : { parentNode: node.branch.id };
  state.status.setNode(node, {
    ...changePhase(node.status, { phase: NodePhase.Queued, message: "node queued", now: state.observation.now }),
    ...lineage,
  });
  const { target } = node.model;
  if (target.kind === "task") {
    sendAbortRequest(state, node, "afterWrite");
    return;
  }
  if (mayEndImmediately(target)) abortSpeculativeDependents(state, node);
  if (target.kind === "subWorkflow") enterMaybeStarted(state, node, target.workflow);
  for (const arm of armsOf(node)) if (upstreamMaybeSucceeded(arm)) abortMaybeStarted(state, arm);
  state.queues.enqueueNode(node);
}

/**
 * True for a node that may end in the observation in which it starts, so that its dependents too
 * may have run ahead of the status.
 */
function mayEndImmediately(target: NodeTarget): boolean {
  if (target.kind !== "gate") return target.kind === "end";
  const closed = gateCondition(target.gate);
  return closed.kind === "sleep" && closed.durationMs <= 0;
}

function enterMaybeStarted(state: RunState, node: RuntimeNode, reference: string): void {
  const graph = node.scope.definitions.subWorkflows.get(reference);
  if (graph === undefined || !fitsInstanceLimit(state, graph.nodes.size)) return;
  const childScope = enterScope(state, graph, node);
  childScope.stage = "aborting";
  childScope.abortReason = node.abortReason ?? "";
  const start = childScope.nodes.get(START_NODE);
  if (start !== undefined) abortSpeculativeDependents(state, start);
}

/** Marks the attempt of an aborted task node as ended. */
export function markAttemptAborted(state: RunState, node: RuntimeNode, now: string): void {
  state.status.setNode(node, { ...node.status, TaskNodeStatus: { ...node.status.TaskNodeStatus, phase: TaskPhase.Aborted, updAt: now } });
}

/** True when the abort has another cause than the node's own deadlines. */
export function isAbortedByParent(node: RuntimeNode): boolean {
  return node.scope.stage === "aborting" || node.branch?.abortReason !== undefined;
}
