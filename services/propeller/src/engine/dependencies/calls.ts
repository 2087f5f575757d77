import type { PendingCall, CallProgress } from "../calls/pending-call.js";
import type { CallResult, CallKind, CallOf, CallOutcome, ValueOf } from "../calls/call.js";
import type { RuntimeNode } from "../graph/runtime.js";
import type { WakeupFallbackBackoff } from "../config.js";
import { backoffDelay } from "@flyte-ts/async/backoff";
import { scheduleTimers } from "../requests/requests.js";
import { addCallBlocker } from "../events/report-blockers.js";
import type { EffectTiming } from "../state/effect-buffer.js";
import type { RunState } from "../state/run-state.js";

// Calls of nodes, executed by the shell. They are not in the status: after a restart a node derives
// its calls from its status.

export interface CallOptions {
  /**
   * `afterWrite` for calls with side effects: only after the status that justifies them is durable.
   */
  readonly timing?: EffectTiming;
  /** Key of the wake-up that triggers a retry, see `wakeupKeys`. */
  readonly wakeupKey?: string;
}

/**
 * Returns the result if known; else starts the call, if it is not pending, and enqueues the node
 * when the result arrives. A node has one pending call per kind; cancel it with `cancelCall` before
 * another of that kind.
 */
export function call<K extends CallKind>(
  state: RunState,
  node: RuntimeNode,
  request: CallOf<K>,
  { timing = "immediate", wakeupKey }: CallOptions = {},
): CallOutcome<ValueOf<K>> | undefined {
  const known = node.calls.pending?.get(request.kind);
  if (known !== undefined) return known.result as CallOutcome<ValueOf<K>> | undefined;
  const pending: PendingCall = {
    call: request as PendingCall["call"],
    callId: "",
    attempts: 0,
    polls: 0,
    firstSentAt: state.observation.now,
    result: undefined,
    error: undefined,
    retryAt: undefined,
    wakeupKey,
    timing,
  };
  node.changeCalls().add(pending);
  if (wakeupKey !== undefined) state.calls.subscribe(node, wakeupKey);
  send(state, node, pending);
  return undefined;
}

/** Progress of a node's pending call; undefined when there is none. */
export function callProgress(node: RuntimeNode, kind: CallKind): CallProgress | undefined {
  return node.calls.pending?.get(kind);
}

/** Retries the call at the given time, or on a wake-up: the result said that it is too early. */
export function retryCallAt(state: RunState, node: RuntimeNode, { kind, at }: { readonly kind: CallKind; readonly at: number }): void {
  const pending = node.calls.pending?.get(kind);
  if (pending === undefined) return;
  pending.result = undefined;
  pending.firstSentAt = at;
  pending.retryAt = at;
  scheduleTimers(state, node);
}

/** Retries on a wake-up, or after a backoff: the result said that it is too early. */
export function pollAsFallback(state: RunState, node: RuntimeNode, kind: keyof WakeupFallbackBackoff): void {
  const pending = node.calls.pending?.get(kind);
  if (pending === undefined) return;
  const pause = backoffDelay(state.config.wakeupFallbackBackoff[kind], pending.polls++, state.config.random);
  retryCallAt(state, node, { kind, at: state.observation.now + pause });
}

/** Cancels the call; a result that still arrives is ignored. */
export function cancelCall(state: RunState, node: RuntimeNode, kind: CallKind): void {
  const pending = node.calls.pending?.get(kind);
  if (pending === undefined) return;
  state.calls.remove(pending.callId);
  if (pending.wakeupKey !== undefined) state.calls.unsubscribe(node, pending.wakeupKey);
  node.changeCalls().remove(kind);
}

/** Cancels all calls at the end of the node or its attempt. */
export function cancelCalls(state: RunState, node: RuntimeNode): void {
  for (const kind of node.calls.pending?.keys() ?? []) cancelCall(state, node, kind);
}

/** Handles a result from the shell. */
export function onCallResult(state: RunState, id: string, answer: CallResult): void {
  const waiting = state.calls.take(id);
  if (waiting === undefined) return;
  const { node, pending } = waiting;
  if (answer.kind === "error") {
    pending.error = answer.message;
    pending.retryAt = state.observation.now + backoffDelay(state.config.callRetryBackoff, pending.attempts - 1, state.config.random);
    scheduleTimers(state, node);
    addCallBlocker(state, node, pending);
  } else {
    pending.attempts = 0;
    pending.error = undefined;
    pending.result = answer;
  }
  // Enqueues the node even after an error, since the caller's timeout may have passed.
  state.queues.enqueueNode(node);
}

/** Handles a wake-up from admin: results of earlier calls may be outdated. */
export function onWakeup(state: RunState, wakeupKey: string): void {
  for (const node of state.calls.listeners(wakeupKey)) {
    for (const pending of node.calls.pending?.values() ?? []) {
      if (pending.wakeupKey !== wakeupKey || pending.result !== undefined) continue;
      state.calls.remove(pending.callId);
      send(state, node, pending);
    }
  }
}

/** Retries the calls that are due. */
export function retryDueCalls(state: RunState, node: RuntimeNode): void {
  for (const pending of node.calls.pending?.values() ?? [])
    if (pending.retryAt !== undefined && pending.retryAt <= state.observation.now) send(state, node, pending);
}

function send(state: RunState, node: RuntimeNode, pending: PendingCall): void {
  pending.attempts++;
  pending.retryAt = undefined;
  state.calls.add(node, pending);
  state.effects.emit({ kind: "call", id: pending.callId, call: pending.call }, pending.timing);
}
