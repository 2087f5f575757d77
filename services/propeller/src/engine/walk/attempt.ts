import { NodePhase } from "@flyte-ts/domain";
import { DesiredState } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { askDueAt } from "../ask/asked.js";
import type { RuntimeNode } from "../graph/runtime.js";
import { newsDueAt } from "./array-news.js";
import { taskRequest } from "../request/task-request.js";
import { backoffDelay } from "@flyte-ts/async/backoff";
import { fromRfc3339 } from "../time/rfc3339.js";
import { deadlinesOf, nextDeadline } from "../timeout/decide.js";
import { isUnheard, neverHeard, noteWaiting, troubleFor, waitingDue } from "./waiting-attempt.js";
import type { Release, Walk } from "./walk.js";

/** Requests to run the node's current attempt. */
export function sendRun(walk: Walk, node: RuntimeNode, release: Release): void {
  send(walk, node, { desired: DesiredState.RUN, release });
  const trouble = isUnheard(node) ? troubleFor(walk, node) : undefined;
  if (trouble !== undefined) noteWaiting(walk, node, trouble);
}

/** Requests to abort the node's current attempt; its end arrives as an event. */
export function sendAbort(walk: Walk, node: RuntimeNode, release: Release): void {
  send(walk, node, { desired: DesiredState.ABORT, release });
}

interface Sending {
  readonly desired: DesiredState;
  readonly release: Release;
}

function send(walk: Walk, node: RuntimeNode, { desired, release }: Sending): void {
  const request = node.request?.desired === desired ? node.request : { desired, sentAt: walk.now, heardAt: walk.now, tries: 0 };
  request.sentAt = walk.now;
  request.tries++;
  node.request = request;
  emitRequest(walk, node, { desired, attempt: node.attempt, release, abortReason: node.stopping });
  arm(walk, node);
}

/** Requests cleanup after an attempt whose end is processed. There is no response. */
export function sendFinalize(walk: Walk, node: RuntimeNode, { attempt, remove }: { attempt: number; remove: boolean }): void {
  emitRequest(walk, node, { desired: DesiredState.FINALIZE, attempt, release: "held", deleteResources: remove });
}

interface Aim {
  readonly desired: DesiredState;
  readonly attempt: number;
  readonly release: Release;
  readonly abortReason?: string | undefined;
  readonly deleteResources?: boolean;
}

function emitRequest(walk: Walk, node: RuntimeNode, { release, abortReason, ...aim }: Aim): void {
  const template = node.scope.array?.template ?? walk.templateOf(node);
  if (template === undefined) return;
  const facts = { workflow: walk.model, config: walk.config, template, now: walk.now };
  const request = taskRequest(node, facts, { ...aim, ...(abortReason === undefined ? {} : { abortReason }) });
  walk.emit({ kind: "sendTask", request }, release);
}

// Timeout of an abort when its task type is unserved and the attempt never reported, ms.
const VAIN_ABORT = 2_000;

/** Time at which a request without progress is resent. */
export function resendAt(walk: Walk, node: RuntimeNode): number | undefined {
  const { request } = node;
  if (request === undefined) return undefined;
  // Jitter is drawn on sending; here the result must be deterministic.
  const delay = backoffDelay({ ...walk.config.resend, jitter: 0 }, request.tries - 1, walk.config.random);
  // No plugin service can answer.
  const vain = request.desired === DesiredState.ABORT && neverHeard(node) && troubleFor(walk, node) !== undefined;
  return Math.max(request.sentAt, request.heardAt) + (vain ? Math.min(delay, VAIN_ABORT) : delay);
}

/** Schedules the node's timer for its earliest deadline, retry, resend or poll. */
export function arm(walk: Walk, node: RuntimeNode): void {
  if (node.settled) return;
  const dues = [
    resendAt(walk, node),
    deadlineOf(walk, node),
    retryTimeOf(node),
    wakeTimeOf(node),
    askDueAt(node.asks),
    newsDueAt(node),
    waitingDue(walk, node),
  ];
  let next: number | undefined;
  for (const due of dues) if (due !== undefined && (next === undefined || due < next)) next = due;
  if (next !== undefined) walk.timers.set(node, next);
}

/** Reschedules timers after an observation. */
export function armAgain(walk: Walk): void {
  for (const node of walk.armed) arm(walk, node);
  walk.armed.clear();
}

const TIMED: ReadonlySet<number> = new Set([NodePhase.Queued, NodePhase.Running, NodePhase.DynamicRunning, NodePhase.RetryableFailure]);

/** Deadlines apply while the node is active and not ending already. */
export function deadlineOf(walk: Walk, node: RuntimeNode): number | undefined {
  const { phase } = node.status;
  if (node.stopping !== undefined || !TIMED.has(phase)) return undefined;
  // An ended attempt whose outputs are being written cannot time out.
  if (node.pendingOutputs !== undefined) return undefined;
  if (node.model.target.kind === "start" || node.model.target.kind === "end") return undefined;
  return nextDeadline(deadlinesOf(node.model, walk.config), timeFacts(node));
}

export function timeFacts(node: RuntimeNode): { queuedAt: number | undefined; attemptStartedAt: number | undefined } {
  // No attempt runs between two attempts.
  const between = node.status.phase === NodePhase.RetryableFailure;
  return { queuedAt: node.queuedAt, attemptStartedAt: between ? undefined : node.attemptStartedAt };
}

/** Time at which a sleeping gate opens. */
export function wakeTimeOf({ sleepsUntil, stopping }: RuntimeNode): number | undefined {
  return stopping === undefined ? sleepsUntil : undefined;
}

export function retryTimeOf(node: RuntimeNode): number | undefined {
  const waits = node.status.phase === NodePhase.RetryableFailure && node.request === undefined && node.stopping === undefined;
  return waits ? fromRfc3339(node.status.retryAt) : undefined;
}
