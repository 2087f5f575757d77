import { NodePhase } from "@flyte-ts/domain/phase";
import { NodeExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { abortNode, abortSpeculativeDependents, isAbortedByParent, markAttemptAborted } from "../abort/abort.js";
import { liveDeck } from "../data/live-deck.js";
import { writeOutputs } from "../data/outputs.js";
import { markDynamic } from "./mark-dynamic.js";
import { publishNodeEvent } from "../events/publish-event.js";
import type { RuntimeNode } from "../graph/runtime.js";
import { commitSuccess } from "../lifecycle/commit-outputs.js";
import { endAborted, failNode, succeedNode } from "../lifecycle/end-node.js";
import type { RunState } from "../state/run-state.js";
import { attemptStarted, changePhase } from "../status/update-phase.js";
import { rfc3339Millis } from "../time/rfc3339.js";
import { publishAttemptAborted } from "../requests/blocked-attempt.js";
import { scheduleTimers, sendAbortRequest, sendCleanupRequest, sendRunRequest } from "../requests/requests.js";
import { markRetryable, startNextAttempt } from "./next-attempt.js";
import type { AttemptTransition, TransitionOf } from "./transition.js";

/** Applies a transition of the node's attempt to its status, events and effects. */
export function applyTransition(state: RunState, node: RuntimeNode, transition: AttemptTransition): void {
  switch (transition.kind) {
    case "ignore":
    case "abortZombie":
      return ignoreReport(state, node, transition);
    case "progress":
      return progress(state, node, transition);
    case "writeOutputs":
      node.lifecycle.clearAbort();
      return writeOutputs(state, node, transition.outputs, transition);
    case "cacheOutputs":
      node.lifecycle.clearAbort();
      node.changeData().setUncommittedSuccess(transition.success);
      return commitSuccess(state, node);
    case "succeed":
      return succeed(state, node, transition);
    case "retry":
      return markRetryable(state, node, transition.error, { ended: true, clean: transition.clean });
    case "runGraph":
    case "fail":
    case "continueAbort":
    case "endAborted":
      if (transition.cleanup) sendCleanupRequest(state, node, { attempt: node.attempt, remove: true });
      return endAttempt(state, node, transition);
    case "startNext":
      return startNextAttempt(state, node);
    case "resendRun":
    case "resendAbort":
    case "abandon":
      return resend(state, node, transition);
    case "timeOut":
    case "retryAfterAbort":
    case "failAfterAbort":
      return passDeadline(state, node, transition);
  }
}

function ignoreReport(state: RunState, node: RuntimeNode, transition: TransitionOf<"ignore" | "abortZombie">): void {
  state.effects.metric("taskEventIgnored");
  if (transition.kind === "ignore") return;
  node.changeAttempt().zombieAborted(state.observation.now);
  if (transition.request !== undefined) state.effects.emit({ kind: "sendTaskRequest", request: transition.request });
}

function progress(state: RunState, node: RuntimeNode, { task, starts, publishes }: TransitionOf<"progress">): void {
  const { now } = state.observation;
  node.changeAttempt().progressed();
  if (starts) node.changeAttempt().started(now);
  state.status.setNode(node, { ...(starts ? attemptStarted(node.status, now) : node.status), TaskNodeStatus: task });
  if (publishes) {
    const details = { phase: NodeExecution_Phase.RUNNING, deckUri: liveDeck(state, node), cache: node.calls.cache };
    publishNodeEvent(state, node, details, "immediate");
  }
  scheduleTimers(state, node);
}

function succeed(state: RunState, node: RuntimeNode, { success, cleanup }: TransitionOf<"succeed">): void {
  const { maybeAheadOfStatus } = node.readiness;
  state.observation.startSpeculation();
  succeedNode(state, node, success);
  if (cleanup) sendCleanupRequest(state, node, { attempt: node.attempt, remove: true });
  if (maybeAheadOfStatus) abortSpeculativeDependents(state, node);
}

function endAttempt(
  state: RunState,
  node: RuntimeNode,
  transition: TransitionOf<"runGraph" | "fail" | "continueAbort" | "endAborted">,
): void {
  switch (transition.kind) {
    case "runGraph":
      return markDynamic(state, node, transition.deckUri);
    case "fail":
      return failNode(state, node, transition.error, transition.details);
    case "continueAbort":
      return state.queues.enqueueNode(node);
    case "endAborted":
      markAttemptAborted(state, node, rfc3339Millis(state.observation.now));
      return endAborted(state, node, transition.reason);
  }
}

function passDeadline(
  state: RunState,
  node: RuntimeNode,
  transition: TransitionOf<"timeOut" | "retryAfterAbort" | "failAfterAbort">,
): void {
  const { now } = state.observation;
  state.effects.metric("attemptTimedOut", { deadline: transition.kind === "timeOut" ? "active" : "execution" });
  switch (transition.kind) {
    case "timeOut":
      state.status.setNode(node, changePhase(node.status, { phase: NodePhase.TimingOut, message: transition.message, now }));
      return abortNode(state, node, "node timed out");
    case "retryAfterAbort":
      markRetryable(state, node, transition.error, { ended: false, clean: false });
      return abortNode(state, node, transition.error.message);
    case "failAfterAbort": {
      const { message } = transition.error;
      const error = state.errors.replace(transition.error, node.status.error);
      state.status.setNode(node, changePhase(node.status, { phase: NodePhase.Failing, message, error, now }));
      return abortNode(state, node, transition.reason);
    }
  }
}

function resend(state: RunState, node: RuntimeNode, transition: TransitionOf<"resendRun" | "resendAbort" | "abandon">): void {
  state.effects.metric("requestResent");
  switch (transition.kind) {
    case "resendRun":
      return sendRunRequest(state, node, "immediate");
    case "resendAbort":
      return sendAbortRequest(state, node, "immediate");
    case "abandon":
      return abandonAttempt(state, node, transition.reason);
  }
}

/** Ends the node without a report of its plugin service. */
function abandonAttempt(state: RunState, node: RuntimeNode, reason: string): void {
  publishAttemptAborted(state, node, reason);
  node.changeAttempt().closeRequest();
  state.effects.metric("abortAbandoned");
  if (isAbortedByParent(node)) endAttempt(state, node, { kind: "endAborted", reason, cleanup: false });
  else endAttempt(state, node, { kind: "continueAbort", cleanup: false });
}
