import { TaskPhase } from "@flyte-ts/domain/phase";
import { DesiredState } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { RuntimeNode, Scope } from "../graph/runtime.js";
import { isPluginUnresponsiveReason, pluginUnresponsiveReason, type PluginHealth } from "../plugin-health.js";
import { goDuration } from "../time/duration.js";
import { scheduleTimers, sendAbortRequest, sendCleanupRequest, sendRunRequest } from "../requests/requests.js";
import { failNode } from "../lifecycle/end-node.js";
import {
  awaitsFirstEvent,
  clearAttemptBlocked,
  markAttemptBlocked,
  publishAttemptFailed,
  unavailableReasonFor,
  blockedTimeoutAt,
} from "../requests/blocked-attempt.js";
import type { RunState } from "../state/run-state.js";

/** Handles changed availability of task types: rechecks attempts without reports. */
export function onPluginHealth(state: RunState, plugins: PluginHealth): void {
  state.observation.setPluginHealth(plugins);
  forEachActiveNode(state.root, (node) => {
    if (awaitsFirstEvent(node)) recheckAttempt(state, node);
    // The timeout of an answer depends on availability.
    else if (node.currentAttempt.request !== undefined) scheduleTimers(state, node);
  });
}

/**
 * Resends open requests to a restarted plugin at once instead of waiting for the resend timer: its
 * predecessor's unfinished requests are lost. The new process reports running attempts by itself.
 */
export function onPluginStarted(state: RunState, taskTypes: ReadonlySet<string>): void {
  forEachActiveNode(state.root, (node) => {
    const { request } = node.currentAttempt;
    if (request === undefined || !taskTypes.has(state.templateOf(node)?.type ?? "")) return;
    if (request.desired === DesiredState.ABORT) sendAbortRequest(state, node, "afterWrite");
    else if (node.status.TaskNodeStatus?.phase !== TaskPhase.Running) sendRunRequest(state, node, "afterWrite");
  });
}

function forEachActiveNode(scope: Scope, act: (node: RuntimeNode) => void): void {
  for (const node of scope.nodes.values()) {
    if (node.ended || !node.started) continue;
    if (node.childScope !== undefined) forEachActiveNode(node.childScope, act);
    act(node);
  }
}

function recheckAttempt(state: RunState, node: RuntimeNode): void {
  const unavailableReason = unavailableReasonFor(state, node);
  if (unavailableReason !== undefined) markAttemptBlocked(state, node, unavailableReason);
  else if (
    node.currentAttempt.blockedSince !== undefined &&
    !isPluginUnresponsiveReason(node.status.message, state.templateOf(node)?.type ?? "")
  ) {
    clearAttemptBlocked(state, node);
    sendRunRequest(state, node, "immediate");
  }
  scheduleTimers(state, node);
}

/** Fails an attempt without reports whose time is up. Returns true when that ended the node. */
export function onBlockedTimeout(state: RunState, node: RuntimeNode): boolean {
  const due = blockedTimeoutAt(state, node);
  if (due === undefined || due > state.observation.now) return false;
  const type = state.templateOf(node)?.type ?? "";
  if (node.currentAttempt.blockedSince === undefined) {
    markAttemptBlocked(
      state,
      node,
      unavailableReasonFor(state, node) ??
        pluginUnresponsiveReason(type, node.currentAttempt.request?.lastEventAt ?? state.observation.now),
    );
    return false;
  }
  const message = `${node.status.message ?? pluginUnresponsiveReason(type, node.currentAttempt.blockedSince)}; abandoned after ${goDuration(state.config.pluginUnavailableTimeout)}`;
  const error = { code: "PluginUnavailable", kind: "SYSTEM", message };
  publishAttemptFailed(state, node, error);
  // Sends a cleanup request, so that a plugin that appears later does not start the attempt.
  sendCleanupRequest(state, node, { attempt: node.attempt, remove: true });
  node.changeAttempt().closeRequest();
  failNode(state, node, error, { attemptEnded: true });
  return true;
}
