import { TaskPhase } from "@flyte-ts/domain/phase";
import { TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { DesiredState } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd/status";
import type { RuntimeNode } from "../graph/runtime.js";
import { pluginUnavailableReason } from "../plugin-health.js";
import { changeMessage } from "../status/update-phase.js";
import { latestPossibleMs, rfc3339Millis } from "../time/rfc3339.js";
import { addAttemptBlocker } from "../events/report-blockers.js";
import type { EffectTiming } from "../state/effect-buffer.js";
import { publishAttemptEvent } from "../events/publish-event.js";
import type { RunState } from "../state/run-state.js";

/** True when the attempt was requested and no plugin service has reported on it. */
export function awaitsFirstEvent(node: RuntimeNode): boolean {
  return (
    node.currentAttempt.request?.desired === DesiredState.RUN &&
    node.currentAttempt.startedAt === undefined &&
    node.abortReason === undefined
  );
}

/** True while no plugin service has reported the attempt: propeller set its stored task phase. */
export function neverReported(node: RuntimeNode): boolean {
  const phase = node.status.TaskNodeStatus?.phase;
  return phase === undefined || (node.currentAttempt.startedAt === undefined && phase === TaskPhase.WaitingForResources);
}

/**
 * Reason why plugin services, by their heartbeats, cannot run the node's attempt; undefined when
 * they can.
 */
export function unavailableReasonFor(state: RunState, node: RuntimeNode): string | undefined {
  const template = state.templateOf(node);
  return template === undefined ? undefined : pluginUnavailableReason(state.observation.plugins, template.type);
}

/**
 * Publishes, in the status and to admin, the reason why an attempt waits; once per reason. The
 * version of the reason is in the status and in requests, so that a plugin service continues the
 * count.
 */
export function markAttemptBlocked(state: RunState, node: RuntimeNode, reason: string): void {
  node.changeAttempt().blocked(state.observation.now);
  addAttemptBlocker(state, node, reason);
  if (node.status.message === reason) return;
  const { TaskNodeStatus: known } = node.status;
  const version = known?.phase === TaskPhase.WaitingForResources ? (known.phaseVersion ?? 0) + 1 : 0;
  state.status.setNode(node, {
    ...changeMessage(node.status, reason, state.observation.now),
    TaskNodeStatus: {
      ...known,
      phase: TaskPhase.WaitingForResources,
      ...(version === 0 ? {} : { phaseVersion: version }),
      updAt: rfc3339Millis(state.observation.now),
    },
  });
  state.effects.metric("attemptWaits");
  state.effects.kubeEvent("Warning", "NodeWaits", `node ${node.path}: ${reason}`);
  publishAttemptBlocked(state, node, "afterWrite");
}

/** Message of a node whose attempt is about to start, when it is not blocked. */
const QUEUED_MESSAGE = "node queued";

/** The process may have restarted between the status write and the event. */
export function restoreBlocked(state: RunState, node: RuntimeNode): void {
  if (node.status.TaskNodeStatus?.phase !== TaskPhase.WaitingForResources || node.currentAttempt.startedAt !== undefined) return;
  if (node.abortReason !== undefined || node.status.message === undefined || node.status.message === QUEUED_MESSAGE) return;
  node.changeAttempt().blocked(latestPossibleMs(node.status.lastUpdatedAt));
  addAttemptBlocker(state, node, node.status.message);
  publishAttemptBlocked(state, node, "immediate");
}

/** Clears the reason why the attempt waits. */
export function clearAttemptBlocked(state: RunState, node: RuntimeNode): void {
  node.changeAttempt().unblocked();
  state.status.setNode(node, changeMessage(node.status, QUEUED_MESSAGE, state.observation.now));
}

function publishAttemptBlocked(state: RunState, node: RuntimeNode, timing: EffectTiming): void {
  const { message = "", TaskNodeStatus: task } = node.status;
  const phaseVersion = task?.phaseVersion ?? 0;
  publishAttemptEvent(state, node, { phase: TaskExecution_Phase.WAITING_FOR_RESOURCES, phaseVersion, reason: message }, timing);
}

/** Publishes the abort of an attempt that, as far as is known, never started. */
export function publishAttemptAborted(state: RunState, node: RuntimeNode, reason: string): void {
  if (node.status.TaskNodeStatus === undefined) return;
  publishAttemptEvent(state, node, { phase: TaskExecution_Phase.ABORTED, phaseVersion: 0, reason }, "afterWrite");
}

/** Publishes the failed attempt to admin on the plugin service's behalf. */
export function publishAttemptFailed(state: RunState, node: RuntimeNode, error: ExecutionErrorJson): void {
  publishAttemptEvent(state, node, { phase: TaskExecution_Phase.FAILED, phaseVersion: 0, reason: error.message, error }, "afterWrite");
}

/** Time at which an attempt without reports counts as unanswered, or fails; undefined for never. */
export function blockedTimeoutAt(state: RunState, node: RuntimeNode): number | undefined {
  if (!awaitsFirstEvent(node)) return undefined;
  const { pluginUnavailableTimeout, pluginResponseTimeout } = state.config;
  if (node.currentAttempt.blockedSince === undefined)
    return pluginResponseTimeout > 0 ? (node.currentAttempt.request?.lastEventAt ?? 0) + pluginResponseTimeout : undefined;
  return pluginUnavailableTimeout > 0 ? node.currentAttempt.blockedSince + pluginUnavailableTimeout : undefined;
}
