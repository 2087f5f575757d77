import { NodePhase } from "@flyte-ts/domain/phase";
import { DesiredState } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { RuntimeNode } from "../graph/runtime.js";
import { changePhase } from "../status/update-phase.js";
import { deadlinesOf, decideTimeout, type TimeoutDecision } from "../policy/timeout.js";
import { changesDueAt } from "../events/item-events.js";
import { retryDueCalls } from "../dependencies/calls.js";
import {
  scheduleTimers,
  deadlineOf,
  resendDueAt,
  retryDueAt,
  sendAbortRequest,
  sendRunRequest,
  timeFacts,
  gateOpensAt,
} from "./requests.js";
import { onBlockedTimeout } from "./plugin-health-change.js";
import { neverReported, publishAttemptAborted, unavailableReasonFor } from "./blocked-attempt.js";
import { markRetryable, decideRetryAfter, startNextAttempt } from "./retry.js";
import { isAbortedByParent, markAttemptAborted, abortNode } from "../abort/abort.js";
import type { RunState } from "../state/run-state.js";
import { goDuration } from "../time/duration.js";
import { rfc3339Millis } from "../time/rfc3339.js";
import { endAborted } from "../lifecycle/end-node.js";

/** Handles a due timer of a node: a deadline, a retry, or a request without progress. */
export function onNodeTimer(state: RunState, node: RuntimeNode): void {
  if (node.ended) return;
  if (deadlineOf(state, node) !== undefined) {
    const timeout = decideTimeout(deadlinesOf(node.model, state.config), timeFacts(node), state.observation.now);
    if (timeout !== undefined) onDeadline(state, node, timeout);
  }
  const wakesAt = gateOpensAt(node);
  if (wakesAt !== undefined && wakesAt <= state.observation.now) {
    state.queues.enqueueNode(node);
    return;
  }
  const retryAt = retryDueAt(node);
  if (retryAt !== undefined && retryAt <= state.observation.now) startNextAttempt(state, node);
  retryDueCalls(state, node);
  if (onBlockedTimeout(state, node)) return;
  if (changesDueAt(node) !== undefined && node.childScope !== undefined) state.publishing.markArrayChanged(node.childScope);
  const again = resendDueAt(state, node);
  if (again !== undefined && again <= state.observation.now) resendRequest(state, node);
  scheduleTimers(state, node);
}

function onDeadline(state: RunState, node: RuntimeNode, timeout: NonNullable<TimeoutDecision>): void {
  state.effects.metric("attemptTimedOut", { deadline: timeout.kind });
  if (timeout.kind === "active") {
    state.status.setNode(
      node,
      changePhase(node.status, { phase: NodePhase.TimingOut, message: timeout.message, now: state.observation.now }),
    );
    abortNode(state, node, "node timed out");
    return;
  }
  const error = { code: "TimeoutExpired", kind: "USER", message: timeout.message };
  const decision = decideRetryAfter(state, node, error);
  if (decision.retry) markRetryable(state, node, error, { ended: false, clean: false });
  else {
    const { message } = decision.error;
    const kept = state.errors.replace(decision.error, node.status.error);
    state.status.setNode(node, changePhase(node.status, { phase: NodePhase.Failing, message, error: kept, now: state.observation.now }));
  }
  abortNode(state, node, timeout.message);
}

/** Resends a request without progress; abandons an abort that is never answered. */
function resendRequest(state: RunState, node: RuntimeNode): void {
  state.effects.metric("requestResent");
  if (node.currentAttempt.request?.desired !== DesiredState.ABORT) {
    sendRunRequest(state, node, "immediate");
    return;
  }
  if (state.observation.now < node.currentAttempt.request.lastEventAt + abortTimeoutFor(state, node))
    sendAbortRequest(state, node, "immediate");
  else abandonAttempt(state, node);
}

/** Timeout of an abort: none where the task type is unserved, longest where something runs. */
function abortTimeoutFor(state: RunState, node: RuntimeNode): number {
  const { abortTimeout, unstartedAbortTimeout } = state.config;
  // Another attempt must not run while the aborted one may be alive.
  if (node.status.phase === NodePhase.RetryableFailure && !isAbortedByParent(node)) return Number.POSITIVE_INFINITY;
  if (!neverReported(node)) return abortTimeout > 0 ? abortTimeout : Number.POSITIVE_INFINITY;
  return unavailableReasonFor(state, node) === undefined ? unstartedAbortTimeout : 0;
}

/** Ends the node without a report of its plugin service. */
function abandonAttempt(state: RunState, node: RuntimeNode): void {
  const { abortReason = "" } = node;
  const waited = goDuration(state.observation.now - (node.currentAttempt.request?.lastEventAt ?? state.observation.now));
  const reason = neverReported(node)
    ? abortReason
    : `${abortReason} (no plugin service has answered the abort request for ${waited}; the task may still run)`;
  publishAttemptAborted(state, node, reason);
  node.changeAttempt().closeRequest();
  state.effects.metric("abortAbandoned");
  if (!isAbortedByParent(node)) {
    state.queues.enqueueNode(node);
    return;
  }
  markAttemptAborted(state, node, rfc3339Millis(state.observation.now));
  endAborted(state, node, reason);
}
