import { TaskPhase } from "@flyte-ts/domain";
import { DesiredState } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { RuntimeNode, Scope } from "../graph/runtime.js";
import { isUnanswered, unanswered, type PluginsKnown } from "../plugin/known.js";
import { goDuration } from "../time/duration.js";
import { arm, sendAbort, sendFinalize, sendRun } from "./attempt.js";
import { fail } from "./settle.js";
import { isUnheard, noteUnhindered, noteWaiting, tellAttemptFailed, troubleFor, waitingDue } from "./waiting-attempt.js";
import type { Walk } from "./walk.js";

/** Handles changed availability of task types: rechecks attempts without reports. */
export function takePlugins(walk: Walk, plugins: PluginsKnown): void {
  walk.plugins = plugins;
  visit(walk.root, (node) => {
    if (isUnheard(node)) judge(walk, node);
    // The timeout of an answer depends on availability.
    else if (node.request !== undefined) arm(walk, node);
  });
}

/**
 * Resends open requests to a restarted plugin at once instead of waiting for the resend timer: its predecessor's
 * unfinished requests are lost. The new process reports running attempts by itself.
 */
export function askAgain(walk: Walk, taskTypes: ReadonlySet<string>): void {
  visit(walk.root, (node) => {
    const { request } = node;
    if (request === undefined || !taskTypes.has(walk.templateOf(node)?.type ?? "")) return;
    if (request.desired === DesiredState.ABORT) sendAbort(walk, node, "held");
    else if (node.status.TaskNodeStatus?.phase !== TaskPhase.Running) sendRun(walk, node, "held");
  });
}

function visit(scope: Scope, act: (node: RuntimeNode) => void): void {
  for (const node of scope.nodes.values()) {
    if (node.settled || !node.begun) continue;
    if (node.inner !== undefined) visit(node.inner, act);
    act(node);
  }
}

function judge(walk: Walk, node: RuntimeNode): void {
  const trouble = troubleFor(walk, node);
  if (trouble !== undefined) noteWaiting(walk, node, trouble);
  else if (node.waitingSince !== undefined && !isUnanswered(node.status.message, walk.templateOf(node)?.type ?? "")) {
    noteUnhindered(walk, node);
    sendRun(walk, node, "now");
  }
  arm(walk, node);
}

/** Fails an attempt without reports whose time is up. Returns true when that ended the node. */
export function waitingIsDue(walk: Walk, node: RuntimeNode): boolean {
  const due = waitingDue(walk, node);
  if (due === undefined || due > walk.now) return false;
  const type = walk.templateOf(node)?.type ?? "";
  if (node.waitingSince === undefined) {
    noteWaiting(walk, node, troubleFor(walk, node) ?? unanswered(type, node.request?.heardAt ?? walk.now));
    return false;
  }
  const message = `${node.status.message ?? unanswered(type, node.waitingSince)}; given up after ${goDuration(walk.config.pluginDeadline)}`;
  const error = { code: "PluginUnavailable", kind: "SYSTEM", message };
  tellAttemptFailed(walk, node, error);
  // Sends a cleanup request, so that a plugin that appears later does not start the attempt.
  sendFinalize(walk, node, { attempt: node.attempt, remove: true });
  node.request = undefined;
  fail(walk, node, error, { attemptEnded: true });
  return true;
}
