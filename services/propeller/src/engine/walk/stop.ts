import { NodePhase, TaskPhase } from "@flyte-ts/domain";
import { DesiredState } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { NodeTarget } from "@flyte-ts/workflow-crd";
import { armsOf, mayBeTaken } from "../graph/arms.js";
import { END_NODE, START_NODE } from "../graph/index-graph.js";
import type { RuntimeNode, Scope } from "../graph/runtime.js";
import { closeGate } from "../handler/gate.js";
import { changePhase } from "../status/update-phase.js";
import { forgetAll } from "./asking.js";
import { sendAbort } from "./attempt.js";
import { keepReservation, stopsReserving, waitsForCache } from "./caching.js";
import { begin } from "./slots.js";
import { enterScope, hasRoomFor } from "./scope.js";
import type { Walk } from "./walk.js";

// Reasons shown on aborted nodes, in Go Flyte's wording.
export const ABORT_REASON = "Workflow aborted.";
export const ROOT_REASON = "Some node execution failed, auto-abort.";
export const INNER_REASON = "subworkflow failed";
export const DYNAMIC_REASON = "Dynamic workflow failed";

/** Reason for aborting the nodes of a nested graph when one of them has failed. */
export function innerReason(owner: RuntimeNode): string {
  return owner.expanded ? DYNAMIC_REASON : INNER_REASON;
}

/** Aborts the graph: starts no node and aborts running ones. */
export function stopScope(walk: Walk, scope: Scope, reason: string): void {
  scope.stage = "stop";
  scope.stopReason = reason;
  for (const node of scope.nodes.values()) {
    if (node.maybeBegun && !node.settled && node.status.phase === NodePhase.NotYetStarted) mayHaveBegun(walk, node);
    else if (node.begun && !node.settled) stopNode(walk, node, reason);
    if (node.presumed && !node.succeeded) stopFollowers(walk, node);
  }
  walk.lookAt(scope);
}

/** Aborts all that runs of a node. The node is reconciled when that is done, or at once. */
export function stopNode(walk: Walk, node: RuntimeNode, reason: string): void {
  if (node.settled) return;
  const again = node.stopping !== undefined;
  node.stopping = reason;
  if (again) return;
  stopsReserving(walk, node);
  // A child's existence must be known before it can be terminated.
  if (node.child === "none") forgetAll(walk, node);
  // Running attempts keep the reservation until they are aborted.
  keepReservation(walk, node);
  if (node.inner !== undefined) stopScope(walk, node.inner, reason);
  else if (node.model.target.kind === "branch") stopArm(walk, node, reason);
  else if (mayRun(node)) sendAbort(walk, node, "held");
  walk.look(node);
}

/** True when an attempt may run: this process requested it, or the status shows an earlier one. */
function mayRun(node: RuntimeNode): boolean {
  if (node.request !== undefined) return node.request.desired !== DesiredState.ABORT;
  const { phase, retryAt } = node.status;
  if (node.model.target.kind !== "task" || node.pendingOutputs !== undefined || waitsForCache(node)) return false;
  if (node.status.dynamicNodeStatus !== undefined) return false;
  // With the next attempt scheduled, the last one has ended.
  return phase !== NodePhase.NotYetStarted && retryAt === undefined;
}

function stopArm(walk: Walk, branch: RuntimeNode, reason: string): void {
  for (const arm of armsOf(branch)) {
    if (arm.settled) continue;
    if (arm.begun) stopNode(walk, arm, reason);
    // According to the status it waited for dependencies.
    else if (branch.unconfirmed && arm.id === branch.status.branchStatus?.finalNodeId) mayHaveBegun(walk, arm);
  }
}

/** True when nothing of the node runs any more. */
export function atRest(node: RuntimeNode): boolean {
  if (node.request !== undefined || node.child !== "none") return false;
  if (node.inner !== undefined) return node.inner.live === 0;
  return armsOf(node).every((arm) => !arm.begun || arm.settled);
}

/**
 * Aborts dependents that may run unseen: after a restart the status may lag behind nodes that followed an attempt's
 * success. When such an attempt reports success during an abort, all possible dependents are aborted too. Aborting one
 * that never ran costs a message and an event.
 */
export function stopFollowers(walk: Walk, node: RuntimeNode): void {
  const { scope } = node;
  if (walk.forgetsFollowers) return;
  node.presumed = true;
  if (scope.stage !== "stop") return;
  for (const id of scope.index.dependents.get(node.id) ?? []) {
    const follower = scope.nodes.get(id);
    if (follower !== undefined && mayBeTaken(follower) && mayBeReady(follower)) mayHaveBegun(walk, follower);
  }
  // A branch succeeds with its arm, a sub-workflow with its end node.
  if (node.branch !== undefined) stopFollowers(walk, node.branch);
  else if (node.id === END_NODE && scope.owner !== undefined) stopFollowers(walk, scope.owner);
}

function mayBeReady(node: RuntimeNode): boolean {
  const { nodes, index } = node.scope;
  return (index.upstream.get(node.id) ?? []).every((id) => {
    const up = nodes.get(id);
    return up !== undefined && (up.succeeded || up.presumed);
  });
}

function mayHaveBegun(walk: Walk, node: RuntimeNode): void {
  if (node.settled || node.stopping !== undefined) return;
  // Nodes known to have started are aborted in their own state.
  if (node.status.phase !== NodePhase.NotYetStarted) return;
  if (!node.begun) begin(walk, node);
  walk.blobs.release(node);
  walk.dropWrites(node);
  node.unconfirmed = true;
  node.stopping = node.branch?.stopping ?? node.scope.stopReason;
  const lineage = node.branch === undefined ? {} : { parentNode: node.branch.id };
  walk.setNode(node, { ...changePhase(node.status, { phase: NodePhase.Queued, message: "node queued", now: walk.now }), ...lineage });
  const { target } = node.model;
  if (target.kind === "task") {
    sendAbort(walk, node, "held");
    return;
  }
  if (mayEndAtOnce(target)) stopFollowers(walk, node);
  if (target.kind === "subWorkflow") enterPossibly(walk, node, target.workflow);
  for (const arm of armsOf(node)) if (mayBeReady(arm)) mayHaveBegun(walk, arm);
  walk.look(node);
}

/** True for a node that may end in the observation in which it starts, so that its dependents too may have run ahead of the status. */
function mayEndAtOnce(target: NodeTarget): boolean {
  if (target.kind !== "gate") return target.kind === "end";
  const closed = closeGate(target.gate);
  return closed.kind === "sleep" && closed.durationMs <= 0;
}

function enterPossibly(walk: Walk, node: RuntimeNode, reference: string): void {
  const graph = node.scope.definitions.subWorkflows.get(reference);
  if (graph === undefined || !hasRoomFor(walk, graph.nodes.size)) return;
  const inner = enterScope(walk, graph, node);
  inner.stage = "stop";
  inner.stopReason = node.stopping ?? "";
  const start = inner.nodes.get(START_NODE);
  if (start !== undefined) stopFollowers(walk, start);
}

/** Marks the attempt of an aborted task node as ended. */
export function noteAborted(walk: Walk, node: RuntimeNode, now: string): void {
  walk.setNode(node, { ...node.status, TaskNodeStatus: { ...node.status.TaskNodeStatus, phase: TaskPhase.Aborted, updAt: now } });
}

/** True when the abort has another cause than the node's own deadlines. */
export function isStoppedFromAbove(node: RuntimeNode): boolean {
  return node.scope.stage === "stop" || node.branch?.stopping !== undefined;
}
