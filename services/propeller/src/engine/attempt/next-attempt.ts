import { NodePhase, TaskPhase } from "@flyte-ts/domain/phase";
import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd/status";
import { armsOf } from "../graph/arms.js";
import { NOT_STARTED, type RuntimeNode } from "../graph/runtime.js";
import { backoffDelay } from "@flyte-ts/async/backoff";
import { budgetsOf } from "../policy/retry-budgets.js";
import { causeOf, decideRetry, type RetryDecision } from "../policy/retry.js";
import { changePhase, nextAttempt } from "../status/update-phase.js";
import { rfc3339Millis } from "../time/rfc3339.js";
import { cancelCalls } from "../dependencies/calls.js";
import { scheduleTimers, sendCleanupRequest } from "../requests/requests.js";
import { resetReservation } from "../dependencies/cache.js";
import { evictOutputs } from "../data/outputs.js";
import { discardScope } from "../lifecycle/discard-scope.js";
import type { RunState } from "../state/run-state.js";

/** Decides whether the node's budgets permit another attempt after this error. */
export function decideRetryAfter(state: RunState, node: RuntimeNode, error: ExecutionErrorJson): RetryDecision {
  const spent = { attempt: node.attempt, systemFailures: node.status.systemFailures ?? 0 };
  return decideRetry(error, spent, budgetsOf(node.model, state.templateOf(node), state.config));
}

/**
 * Marks a failed attempt that another follows; `ended` is false while it is still being aborted.
 */
export function markRetryable(
  state: RunState,
  node: RuntimeNode,
  error: ExecutionErrorJson,
  { ended, clean }: { ended: boolean; clean: boolean },
): void {
  const kept = state.errors.replace(error, node.status.error);
  const status = changePhase(node.status, {
    phase: NodePhase.RetryableFailure,
    message: error.message,
    error: kept,
    now: state.observation.now,
  });
  if (causeOf(error) === "system") status.systemFailures = (status.systemFailures ?? 0) + 1;
  if (ended) status.TaskNodeStatus = { ...status.TaskNodeStatus, phase: TaskPhase.RetryableFailure, ...(clean ? { clean } : {}) };
  state.status.setNode(node, status);
  state.effects.metric("attemptRetried", { cause: causeOf(error) });
  state.effects.kubeEvent("Warning", "NodeRetried", `node ${node.path}, attempt ${node.attempt}: ${error.code}: ${error.message}`);
  if (ended) scheduleRetry(state, node);
}

/** Schedules the next attempt once nothing of the failed one runs; the time survives a restart. */
export function scheduleRetry(state: RunState, node: RuntimeNode): void {
  node.changeAttempt().superseded(state.observation.now);
  const delay = backoffDelay(state.config.retryBackoff, node.attempt, state.config.random);
  state.status.setNode(node, { ...node.status, retryAt: rfc3339Millis(state.observation.now + delay) });
  scheduleTimers(state, node);
}

/** Starts the next attempt, of a task or of a whole graph below the node. */
export function startNextAttempt(state: RunState, node: RuntimeNode): void {
  if (node.childScope !== undefined) discardScope(state, node, node.childScope);
  resetArms(state, node);
  cancelCalls(state, node);
  node.changeCalls().resetChild();
  node.changeGraph().resetDynamic();
  resetReservation(node);
  node.changeAttempt().startNext(state.observation.now);
  node.readiness.setMaybeAheadOfStatus(false);
  const ended = node.attempt;
  state.status.setNode(node, nextAttempt(node.status, state.observation.now));
  sendCleanupRequest(state, node, { attempt: ended, remove: true });
  state.queues.enqueueNode(node);
}

/** A branch that starts again has chosen no arm yet. */
function resetArms(state: RunState, node: RuntimeNode): void {
  for (const old of armsOf(node)) {
    if (old.status === NOT_STARTED) continue;
    resetArms(state, old);
    evictOutputs(state, old);
    if (old.childScope !== undefined) discardScope(state, old, old.childScope);
    if (old.ended) node.scope.openNodes++;
    state.errors.remove(old.status.error);
    old.reset();
    state.status.setNode(old, NOT_STARTED);
  }
}
