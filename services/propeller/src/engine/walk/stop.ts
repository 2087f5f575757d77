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

// Reasons that users see on nodes that were stopped; the words are Go Flyte's.
export const ABORT_REASON = "Workflow aborted.";
export const ROOT_REASON = "Some node execution failed, auto-abort.";
export const INNER_REASON = "subworkflow failed";
export const DYNAMIC_REASON = "Dynamic workflow failed";

/** Why the nodes of a graph below a node are stopped when one of them has failed. */
export function innerReason(owner: RuntimeNode): string {
  return owner.expanded ? DYNAMIC_REASON : INNER_REASON;
}

/** Nothing more begins in the graph, and what runs in it is stopped. */
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

/** Stops whatever runs of a node. The node is looked at when that is done, or at once. */
export function stopNode(walk: Walk, node: RuntimeNode, reason: string): void {
  if (node.settled) return;
  const again = node.stopping !== undefined;
  node.stopping = reason;
  if (again) return;
  stopsReserving(walk, node);
  // Whether a child was made must be known before it can be stopped.
  if (node.child === "none") forgetAll(walk, node);
  // What runs keeps others from computing until it has stopped.
  keepReservation(walk, node);
  if (node.inner !== undefined) stopScope(walk, node.inner, reason);
  else if (node.model.target.kind === "branch") stopArm(walk, node, reason);
  else if (mayRun(node)) sendAbort(walk, node, "held");
  walk.look(node);
}

/** An attempt may run: it was asked for by this process, or the status tells of one from before. */
function mayRun(node: RuntimeNode): boolean {
  if (node.request !== undefined) return node.request.desired !== DesiredState.ABORT;
  const { phase, retryAt } = node.status;
  if (node.model.target.kind !== "task" || node.pendingOutputs !== undefined || waitsForCache(node)) return false;
  if (node.status.dynamicNodeStatus !== undefined) return false;
  // With a time for the next attempt, the last one has ended.
  return phase !== NodePhase.NotYetStarted && retryAt === undefined;
}

function stopArm(walk: Walk, branch: RuntimeNode, reason: string): void {
  for (const arm of armsOf(branch)) {
    if (arm.settled) continue;
    if (arm.begun) stopNode(walk, arm, reason);
    // It waited for others, as far as the status tells.
    else if (branch.unconfirmed && arm.id === branch.status.branchStatus?.finalNodeId) mayHaveBegun(walk, arm);
  }
}

/** Whether nothing of the node runs any more. */
export function atRest(node: RuntimeNode): boolean {
  if (node.request !== undefined || node.child !== "none") return false;
  if (node.inner !== undefined) return node.inner.live === 0;
  return armsOf(node).every((arm) => !arm.begun || arm.settled);
}

/**
 * After a restart the status may be behind: nodes that followed an attempt's success
 * may run although it does not say so. When such an attempt tells its success while
 * everything is being stopped, all that may have followed it is stopped too. What
 * turns out never to have run costs a message and an event.
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
  // A branch ends well with its arm, a sub-workflow with its end node.
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
  // What is known to have begun is stopped as it stands.
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

/** Whether a node may end in the very observation in which it begins, so that what follows it may have gone ahead of the status as well. */
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

/** The attempt of a stopped task node was seen to end. */
export function noteAborted(walk: Walk, node: RuntimeNode, now: string): void {
  walk.setNode(node, { ...node.status, TaskNodeStatus: { ...node.status.TaskNodeStatus, phase: TaskPhase.Aborted, updAt: now } });
}

/** Stopped because of something else than its own deadlines. */
export function isStoppedFromAbove(node: RuntimeNode): boolean {
  return node.scope.stage === "stop" || node.branch?.stopping !== undefined;
}
