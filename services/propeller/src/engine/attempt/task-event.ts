import { isTerminalTaskEvent } from "@flyte-ts/domain/phase";
import { TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { TaskEvent } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { outputsUri } from "../graph/paths.js";
import type { RuntimeNode } from "../graph/runtime.js";
import { ABORTED_OUTSIDE, decideTaskEvent, type AttemptDecision } from "../decide/task.js";
import { zombieAbortRequest } from "../messages/zombie-abort.js";
import { rfc3339Millis } from "../time/rfc3339.js";
import { recordItemEvent, reportingArrayOf } from "../events/item-changes.js";
import { storesOutputs } from "../dependencies/cache.js";
import { decideRetryAfter } from "./next-attempt.js";
import { fitsInline, sizeOf } from "../data/outputs.js";
import { isAbortedByParent } from "../abort/abort.js";
import { applyTransition } from "./apply-transition.js";
import { findAttempt, reportedAtMs, type ReportedAttempt } from "./find-attempt.js";
import type { AttemptTransition } from "./transition.js";
import type { RunState } from "../state/run-state.js";

// Minimum interval between abort requests to a zombie attempt of one node, ms: prevents reply
// loops.
const MIN_ZOMBIE_ABORT_INTERVAL = 5_000;

type DecisionOf<K extends AttemptDecision["kind"]> = Extract<AttemptDecision, { kind: K }>;

/**
 * Handles a plugin service's report on an attempt, from the bus to the status: finds the attempt,
 * accepts the report, decides the transition, applies it. Old, duplicate and superseded events
 * change nothing.
 */
export function onTaskEvent(state: RunState, report: TaskEvent): void {
  const attempt = isOfOtherOwner(state, report) ? undefined : findAttempt(state.root, report);
  if (attempt === undefined) {
    state.effects.metric("taskEventIgnored");
    return;
  }
  const { node } = attempt;
  const transition = attempt.isCurrent
    ? decideTransition(state, node, acceptReport(state, node, report))
    : decideStaleReport(state, attempt, report);
  applyTransition(state, node, transition);
}

/** True for a report on an attempt of a deleted execution whose name this one has. */
function isOfOtherOwner({ model }: RunState, { ownerUid }: TaskEvent): boolean {
  return ownerUid !== "" && model.uid !== "" && ownerUid !== model.uid;
}

/** Decides on a report of an attempt that has ended: aborts it again while it still runs. */
function decideStaleReport(state: RunState, { node, endedAt }: ReportedAttempt, report: TaskEvent): AttemptTransition {
  const { now } = state.observation;
  const isZombie = endedAt !== undefined && reportedAtMs(report) > endedAt;
  if (!isZombie || now < node.currentAttempt.zombieAbortedAt + MIN_ZOMBIE_ABORT_INTERVAL) return { kind: "ignore" };
  return { kind: "abortZombie", request: zombieAbortRequest(report, now) };
}

/** Notes a report of the current attempt, and returns its meaning. */
function acceptReport(state: RunState, node: RuntimeNode, report: TaskEvent): AttemptDecision {
  const { now } = state.observation;
  const decision = decideTaskEvent(report, node.status.TaskNodeStatus, rfc3339Millis(now));
  const attempt = node.changeAttempt();
  attempt.reported(now);
  if (isTerminalTaskEvent(report.event?.phase ?? TaskExecution_Phase.UNDEFINED)) attempt.terminalReported(reportedAtMs(report));
  if (decision.kind !== "ignore" && report.event !== undefined) recordItemEvent(state, node, report.event);
  if (decision.kind !== "ignore" && decision.kind !== "progress") attempt.closeRequest();
  return decision;
}

/** Decides what a report changes, without changing anything. */
function decideTransition(state: RunState, node: RuntimeNode, decision: AttemptDecision): AttemptTransition {
  switch (decision.kind) {
    case "ignore":
      return decision;
    case "progress":
      return decideProgress(node, decision);
    case "succeed":
      return decideSuccess(state, node, decision);
    case "fail":
      return decideFailure(state, node, decision);
    case "expand":
      return decideDynamicSpec(state, node, decision);
    case "aborted":
      return decideFailure(state, node, ABORTED);
  }
}

const ABORTED: DecisionOf<"fail"> = { kind: "fail", error: ABORTED_OUTSIDE, recoverable: true, cleanup: false, deckUri: "" };

function decideProgress(node: RuntimeNode, { task }: DecisionOf<"progress">): AttemptTransition {
  const starts = node.currentAttempt.startedAt === undefined && node.abortReason === undefined;
  return { kind: "progress", task, starts, publishes: starts && node.status.startedAt === undefined };
}

function decideSuccess(
  state: RunState,
  node: RuntimeNode,
  { outputs, deckUri, cleanup: wanted }: DecisionOf<"succeed">,
): AttemptTransition {
  const cleanup = wanted || state.config.deleteResourcesOnFinalize;
  const { value } = outputs;
  const uri = outputs.uri === "" ? outputsUri(node.attemptDir) : outputs.uri;
  const abortedByParent = isAbortedByParent(node);
  const small = value !== undefined && fitsInline(state, sizeOf(value));
  if (value !== undefined && !small && !abortedByParent) {
    const keeps = node.scope.array !== undefined && sizeOf(value) <= state.config.maxInlineOutputBytes;
    return { kind: "writeOutputs", outputs: value, value: keeps ? value : undefined, deckUri, cleanup };
  }
  if (!abortedByParent && storesOutputs(state, node))
    return { kind: "cacheOutputs", success: { value: small ? value : undefined, deckUri, uri, stored: !small, cleanup } };
  // A node being aborted waits for no blob: its outputs stay in the status, whatever their size.
  const kept = small || abortedByParent ? value : undefined;
  return { kind: "succeed", success: { outputs: { value: kept, uri }, deckUri }, cleanup };
}

/** A node that is being aborted starts no graph. */
function decideDynamicSpec({ config }: RunState, node: RuntimeNode, { deckUri, cleanup: wanted }: DecisionOf<"expand">): AttemptTransition {
  const cleanup = wanted || config.deleteResourcesOnFinalize;
  if (node.abortReason !== undefined) return decideAborted(node, node.abortReason, cleanup);
  if (reportingArrayOf(node) === undefined) return { kind: "runGraph", deckUri, cleanup };
  return { kind: "fail", error: DYNAMIC_ITEM, details: {}, cleanup };
}

/** Nodes below an item would have no published parent. */
const DYNAMIC_ITEM = { code: "UnsupportedDynamicItem", kind: "USER", message: "the task of a map task produced a dynamic workflow" };

function decideFailure(
  state: RunState,
  node: RuntimeNode,
  { error, recoverable, cleanup, deckUri }: DecisionOf<"fail">,
): AttemptTransition {
  if (node.abortReason !== undefined) return decideAborted(node, node.abortReason, cleanup);
  const decision = recoverable ? decideRetryAfter(state, node, error) : ({ retry: false, error } as const);
  if (decision.retry) return { kind: "retry", error, clean: cleanup };
  const details = { deckUri, attemptEnded: true };
  return { kind: "fail", error: decision.error, details, cleanup: cleanup || state.config.deleteResourcesOnFinalize };
}

/** Decides on the end of an attempt whose node is being aborted. */
function decideAborted(node: RuntimeNode, reason: string, cleanup: boolean): AttemptTransition {
  return isAbortedByParent(node) ? { kind: "endAborted", reason, cleanup } : { kind: "continueAbort", cleanup };
}
