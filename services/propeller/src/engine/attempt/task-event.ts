import { isTerminalTaskEvent, NodePhase } from "@flyte-ts/domain/phase";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { NodeExecution_Phase, TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { TaskEvent } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { outputsUri } from "../graph/paths.js";
import type { RuntimeNode, Scope } from "../graph/runtime.js";
import { ABORTED_OUTSIDE, decideTaskEvent, type AttemptDecision } from "../decide/task.js";
import { zombieAbortRequest } from "../messages/zombie-abort.js";
import { attemptStarted } from "../status/update-phase.js";
import { rfc3339Millis } from "../time/rfc3339.js";
import { recordItemEvent, reportingArrayOf } from "../events/item-changes.js";
import { scheduleTimers, sendCleanupRequest } from "./requests.js";
import { markDynamic } from "../dependencies/dynamic.js";
import { storesOutputs } from "../dependencies/cache.js";
import { commitSuccess } from "../lifecycle/commit-outputs.js";
import { liveDeck } from "../data/live-deck.js";
import { markRetryable, decideRetryAfter } from "./retry.js";
import { fitsInline, sizeOf, writeOutputs } from "../data/outputs.js";
import { endAborted, failNode, succeedNode } from "../lifecycle/end-node.js";
import { isAbortedByParent, markAttemptAborted, abortSpeculativeDependents } from "../abort/abort.js";
import { publishNodeEvent } from "../events/publish-event.js";
import type { RunState } from "../state/run-state.js";

// Minimum interval between abort requests to a zombie attempt of one node, ms: prevents reply
// loops.
const MIN_ZOMBIE_ABORT_INTERVAL = 5_000;

/**
 * Handles a plugin service's report on an attempt. Old, duplicate and superseded events change
 * nothing.
 */
export function onTaskEvent(state: RunState, report: TaskEvent): void {
  const found = findNode(state.root, report.nodePath);
  const event = report.event;
  if (found === undefined || event === undefined) {
    state.effects.metric("taskEventIgnored");
    return;
  }
  const { node, exact } = found;
  const sameNode = exact && event.parentNodeExecutionId?.nodeId === node.uniqueId;
  if (sameNode && event.retryAttempt === node.attempt && node.currentAttempt.request !== undefined && !node.ended) {
    onAttemptEvent(state, node, report);
    return;
  }
  state.effects.metric("taskEventIgnored");
  const endedAt = sameNode ? endedSince(node, event.retryAttempt) : node.lifecycle.endedAt;
  if (
    endedAt === undefined ||
    reportedAtMs(report) <= endedAt ||
    state.observation.now < node.currentAttempt.zombieAbortedAt + MIN_ZOMBIE_ABORT_INTERVAL
  )
    return;
  node.changeAttempt().zombieAborted(state.observation.now);
  const request = zombieAbortRequest(report, state.observation.now);
  if (request !== undefined) state.effects.emit({ kind: "sendTaskRequest", request });
}

/** Time at which an attempt of the node ended; undefined while it runs, or if it never existed. */
function endedSince(node: RuntimeNode, attempt: number): number | undefined {
  if (node.ended) return node.currentAttempt.terminalReportedAt ?? node.lifecycle.endedAt;
  if (!node.started) return undefined;
  return attempt < node.attempt || node.status.phase === NodePhase.RetryableFailure
    ? (node.currentAttempt.terminalReportedAt ?? node.currentAttempt.supersededAt)
    : undefined;
}

function reportedAtMs({ event }: TaskEvent): number {
  return event?.reportedAt === undefined ? 0 : timestampMs(event.reportedAt);
}

/** Finds the node on a path or, where the graph below it is gone, its last existing ancestor. */
function findNode(root: Scope, path: string): { readonly node: RuntimeNode; readonly exact: boolean } | undefined {
  let scope: Scope | undefined = root;
  let node: RuntimeNode | undefined;
  for (const id of path.split("/")) {
    if (scope === undefined) return node === undefined ? undefined : { node, exact: false };
    node = scope.nodes.get(id);
    if (node === undefined) return undefined;
    scope = node.childScope;
  }
  return node === undefined ? undefined : { node, exact: true };
}

function onAttemptEvent(state: RunState, node: RuntimeNode, report: TaskEvent): void {
  const decision = decideTaskEvent(report, node.status.TaskNodeStatus, rfc3339Millis(state.observation.now));
  node.changeAttempt().reported(state.observation.now);
  if (isTerminalTaskEvent(report.event?.phase ?? TaskExecution_Phase.UNDEFINED))
    node.changeAttempt().terminalReported(reportedAtMs(report));
  if (decision.kind !== "ignore" && report.event !== undefined) recordItemEvent(state, node, report.event);
  switch (decision.kind) {
    case "ignore":
      state.effects.metric("taskEventIgnored");
      return;
    case "progress":
      onProgress(state, node, decision);
      return;
    case "succeed":
      node.changeAttempt().closeRequest();
      onAttemptSucceeded(state, node, decision);
      return;
    case "fail":
      node.changeAttempt().closeRequest();
      onAttemptFailed(state, node, decision);
      return;
    case "expand":
      node.changeAttempt().closeRequest();
      onDynamicSpec(state, node, decision.deckUri);
      return;
    case "aborted":
      node.changeAttempt().closeRequest();
      if (node.abortReason === undefined) onAttemptFailed(state, node, ABORTED);
      else onAttemptAborted(state, node);
      return;
  }
}

const ABORTED: Extract<AttemptDecision, { kind: "fail" }> = {
  kind: "fail",
  error: ABORTED_OUTSIDE,
  recoverable: true,
  cleanup: false,
  deckUri: "",
};

function onProgress(state: RunState, node: RuntimeNode, { task }: Extract<AttemptDecision, { kind: "progress" }>): void {
  node.changeAttempt().progressed();
  const begins = node.currentAttempt.startedAt === undefined && node.abortReason === undefined;
  const firstAttempt = node.status.startedAt === undefined;
  const status = begins ? attemptStarted(node.status, state.observation.now) : node.status;
  if (begins) node.changeAttempt().started(state.observation.now);
  state.status.setNode(node, { ...status, TaskNodeStatus: task });
  if (begins && firstAttempt)
    publishNodeEvent(
      state,
      node,
      { phase: NodeExecution_Phase.RUNNING, deckUri: liveDeck(state, node), cache: node.calls.cache },
      "immediate",
    );
  scheduleTimers(state, node);
}

function onAttemptSucceeded(
  state: RunState,
  node: RuntimeNode,
  { outputs, deckUri: deck }: Extract<AttemptDecision, { kind: "succeed" }>,
): void {
  const uri = outputs.uri === "" ? outputsUri(node.attemptDir) : outputs.uri;
  const abortedByParent = isAbortedByParent(node);
  const small = outputs.value !== undefined && fitsInline(state, sizeOf(outputs.value));
  if (outputs.value !== undefined && !small && !abortedByParent) {
    node.lifecycle.clearAbort();
    const keeps = node.scope.array !== undefined && sizeOf(outputs.value) <= state.config.maxInlineOutputBytes;
    writeOutputs(state, node, outputs.value, { value: keeps ? outputs.value : undefined, deckUri: deck });
    return;
  }
  if (!abortedByParent && storesOutputs(state, node)) {
    node.lifecycle.clearAbort();
    node.changeData().setUncommittedSuccess({ value: small ? outputs.value : undefined, deckUri: deck, uri, stored: !small });
    commitSuccess(state, node);
    return;
  }
  const { maybeAheadOfStatus } = node.readiness;
  state.observation.startSpeculation();
  // A node being aborted waits for no blob: its outputs stay in the status, whatever their size.
  const value = small || abortedByParent ? outputs.value : undefined;
  succeedNode(state, node, { outputs: { value, uri }, deckUri: deck });
  if (state.config.deleteResourcesOnFinalize) sendCleanupRequest(state, node, { attempt: node.attempt, remove: true });
  if (maybeAheadOfStatus) abortSpeculativeDependents(state, node);
}

/** A node that is being aborted starts no graph. */
function onDynamicSpec(state: RunState, node: RuntimeNode, deckUri: string): void {
  if (state.config.deleteResourcesOnFinalize) sendCleanupRequest(state, node, { attempt: node.attempt, remove: true });
  if (node.abortReason !== undefined) onAttemptAborted(state, node);
  else if (reportingArrayOf(node) === undefined) markDynamic(state, node, deckUri);
  else failNode(state, node, DYNAMIC_ITEM);
}

/** Nodes below an item would have no published parent. */
const DYNAMIC_ITEM = { code: "UnsupportedDynamicItem", kind: "USER", message: "the task of a map task produced a dynamic workflow" };

function onAttemptFailed(
  state: RunState,
  node: RuntimeNode,
  { error, recoverable, cleanup, deckUri: deck }: Extract<AttemptDecision, { kind: "fail" }>,
): void {
  if (node.abortReason !== undefined) {
    onAttemptAborted(state, node);
    return;
  }
  const decision = recoverable ? decideRetryAfter(state, node, error) : ({ retry: false, error } as const);
  if (decision.retry) {
    markRetryable(state, node, error, { ended: true, clean: cleanup });
    return;
  }
  const remove = cleanup || state.config.deleteResourcesOnFinalize;
  if (remove) sendCleanupRequest(state, node, { attempt: node.attempt, remove });
  failNode(state, node, decision.error, { deckUri: deck, attemptEnded: true });
}

/** Handles the end of an attempt whose node is being aborted. */
function onAttemptAborted(state: RunState, node: RuntimeNode): void {
  if (!isAbortedByParent(node)) {
    state.queues.enqueueNode(node);
    return;
  }
  markAttemptAborted(state, node, rfc3339Millis(state.observation.now));
  endAborted(state, node, node.abortReason ?? "");
}
