import { NodePhase } from "@flyte-ts/domain/phase";
import { DesiredState } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { nextCallRetryAt } from "../calls/pending-call.js";
import type { RuntimeNode } from "../graph/runtime.js";
import { changesDueAt } from "../events/item-events.js";
import { taskRequest } from "../messages/task-request.js";
import { backoffDelay } from "@flyte-ts/async/backoff";
import { fromRfc3339 } from "../time/rfc3339.js";
import { deadlinesOf, nextDeadline } from "../policy/timeout.js";
import { awaitsFirstEvent, neverReported, markAttemptBlocked, unavailableReasonFor, blockedTimeoutAt } from "./blocked-attempt.js";
import type { EffectTiming } from "../state/effect-buffer.js";
import type { RunState } from "../state/run-state.js";

/** Requests to run the node's current attempt. */
export function sendRunRequest(state: RunState, node: RuntimeNode, timing: EffectTiming): void {
  send(state, node, { desired: DesiredState.RUN, timing });
  const unavailableReason = awaitsFirstEvent(node) ? unavailableReasonFor(state, node) : undefined;
  if (unavailableReason !== undefined) markAttemptBlocked(state, node, unavailableReason);
}

/** Requests to abort the node's current attempt; its end arrives as an event. */
export function sendAbortRequest(state: RunState, node: RuntimeNode, timing: EffectTiming): void {
  send(state, node, { desired: DesiredState.ABORT, timing });
}

interface SendOptions {
  readonly desired: DesiredState;
  readonly timing: EffectTiming;
}

function send(state: RunState, node: RuntimeNode, { desired, timing }: SendOptions): void {
  node.changeAttempt().requestSent(desired, state.observation.now);
  emitRequest(state, node, { desired, attempt: node.attempt, timing, abortReason: node.abortReason });
  scheduleTimers(state, node);
}

/** Requests cleanup after an attempt whose end is processed. There is no response. */
export function sendCleanupRequest(state: RunState, node: RuntimeNode, { attempt, remove }: { attempt: number; remove: boolean }): void {
  emitRequest(state, node, { desired: DesiredState.FINALIZE, attempt, timing: "afterWrite", deleteResources: remove });
}

interface EmitOptions {
  readonly desired: DesiredState;
  readonly attempt: number;
  readonly timing: EffectTiming;
  readonly abortReason?: string | undefined;
  readonly deleteResources?: boolean;
}

function emitRequest(state: RunState, node: RuntimeNode, { timing, abortReason, ...aim }: EmitOptions): void {
  const template = node.scope.array?.template ?? state.templateOf(node);
  if (template === undefined) return;
  const facts = { workflow: state.model, config: state.config, template, now: state.observation.now };
  const request = taskRequest(node, facts, { ...aim, ...(abortReason === undefined ? {} : { abortReason }) });
  state.effects.emit({ kind: "sendTaskRequest", request }, timing);
}

// Timeout of an abort when its task type is unserved and the attempt never reported, ms.
const UNSERVED_ABORT = 2_000;

/** Time at which a request without progress is resent. */
export function resendDueAt(state: RunState, node: RuntimeNode): number | undefined {
  const { request } = node.currentAttempt;
  if (request === undefined) return undefined;
  // Jitter is drawn on sending; here the result must be deterministic.
  const delay = backoffDelay({ ...state.config.requestResendBackoff, jitter: 0 }, request.sendCount - 1, state.config.random);
  // No plugin service can answer.
  const pointless = request.desired === DesiredState.ABORT && neverReported(node) && unavailableReasonFor(state, node) !== undefined;
  return Math.max(request.sentAt, request.lastEventAt) + (pointless ? Math.min(delay, UNSERVED_ABORT) : delay);
}

/** Schedules the node's timer for its earliest deadline, retry, resend or poll. */
export function scheduleTimers(state: RunState, node: RuntimeNode): void {
  if (node.ended) return;
  const deadlines = [
    resendDueAt(state, node),
    deadlineOf(state, node),
    retryDueAt(node),
    gateOpensAt(node),
    nextCallRetryAt(node.calls.pending),
    changesDueAt(node),
    blockedTimeoutAt(state, node),
  ];
  let next: number | undefined;
  for (const due of deadlines) if (due !== undefined && (next === undefined || due < next)) next = due;
  if (next !== undefined) state.timers.scheduleNode(node, next);
}

/** Reschedules timers after an observation. */
export function rescheduleTimers(state: RunState): void {
  for (const node of state.timers.drainStale()) scheduleTimers(state, node);
}

const TIMED_KINDS: ReadonlySet<number> = new Set([
  NodePhase.Queued,
  NodePhase.Running,
  NodePhase.DynamicRunning,
  NodePhase.RetryableFailure,
]);

/** Deadlines apply while the node is active and not ending already. */
export function deadlineOf(state: RunState, node: RuntimeNode): number | undefined {
  const { phase } = node.status;
  if (node.abortReason !== undefined || !TIMED_KINDS.has(phase)) return undefined;
  // An ended attempt whose outputs are being written cannot time out.
  if (node.data.uncommittedSuccess !== undefined) return undefined;
  if (node.model.target.kind === "start" || node.model.target.kind === "end") return undefined;
  return nextDeadline(deadlinesOf(node.model, state.config), timeFacts(node));
}

export function timeFacts(node: RuntimeNode): { queuedAt: number | undefined; attemptStartedAt: number | undefined } {
  // No attempt runs between two attempts.
  const between = node.status.phase === NodePhase.RetryableFailure;
  return { queuedAt: node.currentAttempt.queuedAt, attemptStartedAt: between ? undefined : node.currentAttempt.startedAt };
}

/** Time at which a sleeping gate opens. */
export function gateOpensAt({ currentAttempt, abortReason }: RuntimeNode): number | undefined {
  return abortReason === undefined ? currentAttempt.gateOpensAt : undefined;
}

export function retryDueAt(node: RuntimeNode): number | undefined {
  const waits =
    node.status.phase === NodePhase.RetryableFailure && node.currentAttempt.request === undefined && node.abortReason === undefined;
  return waits ? fromRfc3339(node.status.retryAt) : undefined;
}
