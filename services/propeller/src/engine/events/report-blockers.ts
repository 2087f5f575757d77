import { isTerminalWorkflow } from "@flyte-ts/domain/phase";
import type { PendingCall } from "../calls/pending-call.js";
import { boundMessage, MAX_STATUS_MESSAGE } from "../errors/bound-message.js";
import type { RuntimeNode } from "../graph/runtime.js";
import { rfc3339Seconds } from "../time/rfc3339.js";
import { publishBlockerEvent } from "./publish-event.js";
import type { RunState } from "../state/run-state.js";

// Publishes blockers to the execution's owner: the status holds the last published reason, so that
// a restart neither repeats it as a change nor leaves it published.

/** Consecutive failures that are not reported, for short outages. */
const MIN_FAILURES_TO_REPORT = 3;

/** Adds the blocker of an attempt that waits for a plugin service. */
export function addAttemptBlocker(state: RunState, node: RuntimeNode, reason: string): void {
  const holds = () =>
    !node.ended &&
    node.currentAttempt.blockedSince !== undefined &&
    node.currentAttempt.startedAt === undefined &&
    node.abortReason === undefined;
  state.publishing.blockers.set(node, { text: `node ${node.path}: ${reason}`, isActive: holds });
}

/** Adds the blocker of a blob that could not be read or written. */
export function addBlobBlocker(state: RunState, uri: string, message: string): void {
  const tries = () => Math.max(state.blobReads.consecutiveFailures(uri), state.blobWrites.consecutiveFailures(uri));
  addFailingBlocker(state, uri, { message, by: "the blob store", failures: tries });
}

/** Adds the blocker of a failing call. */
export function addCallBlocker(state: RunState, node: RuntimeNode, pending: PendingCall): void {
  const tries = () =>
    !node.ended && node.calls.pending?.get(pending.call.kind) === pending && pending.result === undefined ? pending.attempts : 0;
  addFailingBlocker(state, pending, { message: `node ${node.path}: ${pending.error ?? ""}`, by: pending.call.kind, failures: tries });
}

interface FailingDependency {
  readonly message: string;
  readonly by: string;
  /** Current number of consecutive failures. */
  readonly failures: () => number;
}

function addFailingBlocker(state: RunState, subject: unknown, { message, by, failures }: FailingDependency): void {
  if (failures() < MIN_FAILURES_TO_REPORT || state.publishing.blockers.has(subject)) return;
  const text = `${by} has failed since ${rfc3339Seconds(state.observation.now)} and is retried with backoff: ${message}`;
  state.publishing.blockers.set(subject, { text, isActive: () => failures() > 0 });
  state.effects.kubeEvent("Warning", "Waits", text);
}

/** At the end of an observation: publishes the blocker if it has changed. */
export function publishBlocker(state: RunState): void {
  if (state.end.finalization !== "none" || isTerminalWorkflow(state.status.workflow.phase)) return;
  const reason = boundMessage(state.publishing.blockers.firstActive() ?? "", MAX_STATUS_MESSAGE);
  const changed = reason !== (state.status.workflow.notice ?? "");
  if (!changed && !state.publishing.blockerUnpublished) return;
  state.publishing.setBlockerUnpublished(false);
  if (changed) state.status.setWorkflow({ ...state.status.workflow, notice: reason });
  publishBlockerEvent(state, reason);
}
