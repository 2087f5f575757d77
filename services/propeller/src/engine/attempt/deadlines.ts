import { NodePhase } from "@flyte-ts/domain/phase";
import { DesiredState } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { isAbortedByParent } from "../abort/abort.js";
import { retryDueCalls } from "../dependencies/calls.js";
import { changesDueAt } from "../events/item-events.js";
import type { RuntimeNode } from "../graph/runtime.js";
import { deadlinesOf, decideTimeout } from "../policy/timeout.js";
import type { RunState } from "../state/run-state.js";
import { goDuration } from "../time/duration.js";
import { applyTransition } from "./apply-transition.js";
import { neverReported, unavailableReasonFor } from "../requests/blocked-attempt.js";
import { onBlockedTimeout } from "./plugin-health-change.js";
import { deadlineOf, gateOpensAt, resendDueAt, retryDueAt, scheduleTimers, timeFacts } from "../requests/requests.js";
import { decideRetryAfter } from "./next-attempt.js";
import type { AttemptTransition } from "./transition.js";

/** Handles a due timer of a node: a deadline, a retry, or a request without progress. */
export function onNodeTimer(state: RunState, node: RuntimeNode): void {
  if (node.ended) return;
  const passed = decideDeadline(state, node);
  if (passed !== undefined) applyTransition(state, node, passed);
  const opensAt = gateOpensAt(node);
  if (opensAt !== undefined && opensAt <= state.observation.now) {
    state.queues.enqueueNode(node);
    return;
  }
  const retryAt = retryDueAt(node);
  if (retryAt !== undefined && retryAt <= state.observation.now) applyTransition(state, node, { kind: "startNext" });
  retryDueCalls(state, node);
  if (onBlockedTimeout(state, node)) return;
  if (changesDueAt(node) !== undefined && node.childScope !== undefined) state.publishing.markArrayChanged(node.childScope);
  const resend = decideResend(state, node);
  if (resend !== undefined) applyTransition(state, node, resend);
  scheduleTimers(state, node);
}

/** Decides what a passed deadline changes; undefined while none has passed. */
function decideDeadline(state: RunState, node: RuntimeNode): AttemptTransition | undefined {
  if (deadlineOf(state, node) === undefined) return undefined;
  const timeout = decideTimeout(deadlinesOf(node.model, state.config), timeFacts(node), state.observation.now);
  if (timeout === undefined) return undefined;
  if (timeout.kind === "active") return { kind: "timeOut", message: timeout.message };
  const error = { code: "TimeoutExpired", kind: "USER", message: timeout.message };
  const decision = decideRetryAfter(state, node, error);
  return decision.retry ? { kind: "retryAfterAbort", error } : { kind: "failAfterAbort", error: decision.error, reason: timeout.message };
}

/**
 * Decides on a request without progress: resends it, or abandons an abort that was never answered.
 */
function decideResend(state: RunState, node: RuntimeNode): AttemptTransition | undefined {
  const { request } = node.currentAttempt;
  const dueAt = resendDueAt(state, node);
  if (request === undefined || dueAt === undefined || dueAt > state.observation.now) return undefined;
  if (request.desired !== DesiredState.ABORT) return { kind: "resendRun" };
  const waited = state.observation.now - request.lastEventAt;
  if (waited < abortTimeoutFor(state, node)) return { kind: "resendAbort" };
  const { abortReason = "" } = node;
  const reason = neverReported(node)
    ? abortReason
    : `${abortReason} (no plugin service has answered the abort request for ${goDuration(waited)}; the task may still run)`;
  return { kind: "abandon", reason };
}

/** Timeout of an abort: none where the task type is unserved, longest where something runs. */
function abortTimeoutFor(state: RunState, node: RuntimeNode): number {
  const { abortTimeout, unstartedAbortTimeout } = state.config;
  // Another attempt must not run while the aborted one may be alive.
  if (node.status.phase === NodePhase.RetryableFailure && !isAbortedByParent(node)) return Number.POSITIVE_INFINITY;
  if (!neverReported(node)) return abortTimeout > 0 ? abortTimeout : Number.POSITIVE_INFINITY;
  return unavailableReasonFor(state, node) === undefined ? unstartedAbortTimeout : 0;
}
