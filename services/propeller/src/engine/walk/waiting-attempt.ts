import { TaskPhase } from "@flyte-ts/domain";
import { TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { DesiredState } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd";
import type { RuntimeNode } from "../graph/runtime.js";
import { troubleOf } from "../plugin/known.js";
import { changeMessage } from "../status/update-phase.js";
import { latestOf, toMillis } from "../time/rfc3339.js";
import { noticeWaiting } from "./noticing.js";
import type { Release, Walk } from "./walk.js";

/** True when the attempt was requested and no plugin service has reported on it. */
export function isUnheard(node: RuntimeNode): boolean {
  return node.request?.desired === DesiredState.RUN && node.attemptStartedAt === undefined && node.stopping === undefined;
}

/** True while no plugin service has reported the attempt: propeller set its stored task phase. */
export function neverHeard(node: RuntimeNode): boolean {
  const phase = node.status.TaskNodeStatus?.phase;
  return phase === undefined || (node.attemptStartedAt === undefined && phase === TaskPhase.WaitingForResources);
}

/** Reason why plugin services, by their heartbeats, cannot run the node's attempt; undefined when they can. */
export function troubleFor(walk: Walk, node: RuntimeNode): string | undefined {
  const template = walk.templateOf(node);
  return template === undefined ? undefined : troubleOf(walk.plugins, template.type);
}

/**
 * Publishes, in the status and to admin, the reason why an attempt waits; once per reason. The version of the reason is
 * in the status and in requests, so that a plugin service continues the count.
 */
export function noteWaiting(walk: Walk, node: RuntimeNode, reason: string): void {
  node.waitingSince ??= walk.now;
  noticeWaiting(walk, node, reason);
  if (node.status.message === reason) return;
  const { TaskNodeStatus: known } = node.status;
  const version = known?.phase === TaskPhase.WaitingForResources ? (known.phaseVersion ?? 0) + 1 : 0;
  walk.setNode(node, {
    ...changeMessage(node.status, reason, walk.now),
    TaskNodeStatus: {
      ...known,
      phase: TaskPhase.WaitingForResources,
      ...(version === 0 ? {} : { phaseVersion: version }),
      updAt: toMillis(walk.now),
    },
  });
  walk.count("attemptWaits");
  walk.note("Warning", "NodeWaits", `node ${node.path}: ${reason}`);
  tellWaiting(walk, node, "held");
}

/** Message of a node whose attempt is about to start, when it is not blocked. */
const UNHINDERED = "node queued";

/** The process may have restarted between the status write and the event. */
export function waitingRestored(walk: Walk, node: RuntimeNode): void {
  if (node.status.TaskNodeStatus?.phase !== TaskPhase.WaitingForResources || node.attemptStartedAt !== undefined) return;
  if (node.stopping !== undefined || node.status.message === undefined || node.status.message === UNHINDERED) return;
  node.waitingSince = latestOf(node.status.lastUpdatedAt);
  noticeWaiting(walk, node, node.status.message);
  tellWaiting(walk, node, "now");
}

/** Clears the reason. */
export function noteUnhindered(walk: Walk, node: RuntimeNode): void {
  node.waitingSince = undefined;
  walk.setNode(node, changeMessage(node.status, UNHINDERED, walk.now));
}

function tellWaiting(walk: Walk, node: RuntimeNode, release: Release): void {
  const { message = "", TaskNodeStatus: task } = node.status;
  const phaseVersion = task?.phaseVersion ?? 0;
  walk.tell.attempt(node, { phase: TaskExecution_Phase.WAITING_FOR_RESOURCES, phaseVersion, reason: message }, release);
}

/** Publishes the abort of an attempt that, as far as is known, never started. */
export function tellAttemptAborted(walk: Walk, node: RuntimeNode, reason: string): void {
  if (node.status.TaskNodeStatus === undefined) return;
  walk.tell.attempt(node, { phase: TaskExecution_Phase.ABORTED, phaseVersion: 0, reason }, "held");
}

/** Publishes the failed attempt to admin on the plugin service's behalf. */
export function tellAttemptFailed(walk: Walk, node: RuntimeNode, error: ExecutionErrorJson): void {
  walk.tell.attempt(node, { phase: TaskExecution_Phase.FAILED, phaseVersion: 0, reason: error.message, error }, "held");
}

/** Time at which an attempt without reports counts as unanswered, or fails; undefined for never. */
export function waitingDue(walk: Walk, node: RuntimeNode): number | undefined {
  if (!isUnheard(node)) return undefined;
  const { pluginDeadline, unansweredAfter } = walk.config;
  if (node.waitingSince === undefined) return unansweredAfter > 0 ? (node.request?.heardAt ?? 0) + unansweredAfter : undefined;
  return pluginDeadline > 0 ? node.waitingSince + pluginDeadline : undefined;
}
