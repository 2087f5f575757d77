import { NodePhase } from "@flyte-ts/domain";
import { DesiredState } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { RuntimeNode } from "../graph/runtime.js";
import { changePhase } from "../status/update-phase.js";
import { deadlinesOf, decideTimeout, type TimeoutDecision } from "../timeout/decide.js";
import { newsDueAt } from "./array-news.js";
import { asksDue } from "./asking.js";
import { arm, deadlineOf, resendAt, retryTimeOf, sendAbort, sendRun, timeFacts, wakeTimeOf } from "./attempt.js";
import { waitingIsDue } from "./plugins-changed.js";
import { neverHeard, tellAttemptAborted, troubleFor } from "./waiting-attempt.js";
import { noteRetryable, retryAfter, startRetry } from "./next-attempt.js";
import { isStoppedFromAbove, noteAborted, stopNode } from "./stop.js";
import type { Walk } from "./walk.js";
import { goDuration } from "../time/duration.js";
import { toMillis } from "../time/rfc3339.js";
import { abort } from "./settle.js";

/** Handles a due timer of a node: a deadline, a retry, or a request without progress. */
export function nodeDue(walk: Walk, node: RuntimeNode): void {
  if (node.settled) return;
  if (deadlineOf(walk, node) !== undefined) {
    const timeout = decideTimeout(deadlinesOf(node.model, walk.config), timeFacts(node), walk.now);
    if (timeout !== undefined) expire(walk, node, timeout);
  }
  const wakesAt = wakeTimeOf(node);
  if (wakesAt !== undefined && wakesAt <= walk.now) {
    walk.look(node);
    return;
  }
  const retryAt = retryTimeOf(node);
  if (retryAt !== undefined && retryAt <= walk.now) startRetry(walk, node);
  asksDue(walk, node);
  if (waitingIsDue(walk, node)) return;
  if (newsDueAt(node) !== undefined && node.inner !== undefined) walk.news.add(node.inner);
  const again = resendAt(walk, node);
  if (again !== undefined && again <= walk.now) resend(walk, node);
  arm(walk, node);
}

function expire(walk: Walk, node: RuntimeNode, timeout: NonNullable<TimeoutDecision>): void {
  walk.count("attemptTimedOut", { deadline: timeout.kind });
  if (timeout.kind === "active") {
    walk.setNode(node, changePhase(node.status, { phase: NodePhase.TimingOut, message: timeout.message, now: walk.now }));
    stopNode(walk, node, "node timed out");
    return;
  }
  const error = { code: "TimeoutExpired", kind: "USER", message: timeout.message };
  const decision = retryAfter(walk, node, error);
  if (decision.retry) noteRetryable(walk, node, error, { ended: false, clean: false });
  else {
    const { message } = decision.error;
    const kept = walk.errors.take(decision.error, node.status.error);
    walk.setNode(node, changePhase(node.status, { phase: NodePhase.Failing, message, error: kept, now: walk.now }));
  }
  stopNode(walk, node, timeout.message);
}

/** Resends a request without progress; abandons an abort that is never answered. */
function resend(walk: Walk, node: RuntimeNode): void {
  walk.count("requestResent");
  if (node.request?.desired !== DesiredState.ABORT) {
    sendRun(walk, node, "now");
    return;
  }
  if (walk.now < node.request.heardAt + patienceFor(walk, node)) sendAbort(walk, node, "now");
  else abandon(walk, node);
}

/** Timeout of an abort: none where the task type is unserved, longest where something runs. */
function patienceFor(walk: Walk, node: RuntimeNode): number {
  const { abandonAborts, abandonUnanswered } = walk.config;
  // Another attempt must not run while the aborted one may be alive.
  if (node.status.phase === NodePhase.RetryableFailure && !isStoppedFromAbove(node)) return Number.POSITIVE_INFINITY;
  if (!neverHeard(node)) return abandonAborts > 0 ? abandonAborts : Number.POSITIVE_INFINITY;
  return troubleFor(walk, node) === undefined ? abandonUnanswered : 0;
}

/** Ends the node without a report of its plugin service. */
function abandon(walk: Walk, node: RuntimeNode): void {
  const { stopping = "" } = node;
  const waited = goDuration(walk.now - (node.request?.heardAt ?? walk.now));
  const reason = neverHeard(node)
    ? stopping
    : `${stopping} (nobody has answered the request to stop for ${waited}; the task may still run)`;
  tellAttemptAborted(walk, node, reason);
  node.request = undefined;
  walk.count("abortAbandoned");
  if (!isStoppedFromAbove(node)) {
    walk.look(node);
    return;
  }
  noteAborted(walk, node, toMillis(walk.now));
  abort(walk, node, reason);
}
