import { isTerminalNode, NodePhase } from "@flyte-ts/domain/phase";
import type { ExecutionErrorJson, NodeStatus } from "@flyte-ts/workflow-crd/status";
import { MAX_STATUS_MESSAGE, boundMessage } from "../errors/bound-message.js";
import { rfc3339Seconds } from "../time/rfc3339.js";

/** `workflowNodeStatus.phase` of a sub-workflow that fails. */
export const SUB_WORKFLOW_FAILING = 2;

export interface PhaseChange {
  readonly phase: NodePhase;
  readonly message?: string;
  readonly error?: ExecutionErrorJson;
  /** ms. */
  readonly now: number;
}

/**
 * Returns a node's status in its next phase, with the phase's times and, at the end, without fields
 * no longer needed: a finished node keeps its phase, end time, attempts, error, and what Go Flyte
 * leaves of an array, a gate or a failed sub-workflow (recorded statuses). Its start
 * time stays until the execution's end is recorded.
 */
export function changePhase(status: NodeStatus, { phase, message = "", error, now }: PhaseChange): NodeStatus {
  const time = rfc3339Seconds(now);
  if (isTerminalNode(phase)) {
    return {
      phase,
      ...(status.startedAt === undefined ? {} : { startedAt: status.startedAt }),
      stoppedAt: time,
      ...(status.attempts === undefined ? {} : { attempts: status.attempts }),
      ...(status.systemFailures === undefined ? {} : { systemFailures: status.systemFailures }),
      ...(status.parentNode === undefined ? {} : { parentNode: status.parentNode }),
      ...(status.arrayNodeStatus === undefined ? {} : { arrayNodeStatus: status.arrayNodeStatus }),
      ...(status.gateNodeStatus === undefined ? {} : { gateNodeStatus: status.gateNodeStatus }),
      ...(status.workflowNodeStatus?.phase === SUB_WORKFLOW_FAILING ? { workflowNodeStatus: status.workflowNodeStatus } : {}),
      ...((error ?? status.error) === undefined ? {} : { error: error ?? status.error }),
    };
  }
  const next: NodeStatus = { ...status, phase, lastUpdatedAt: time };
  if (message === "") delete next.message;
  else next.message = boundMessage(message, MAX_STATUS_MESSAGE);
  if (error !== undefined) next.error = error;
  if (phase === NodePhase.Queued) next.queuedAt ??= time;
  return next;
}

/** Changes the message of the same phase. */
export function changeMessage(status: NodeStatus, message: string, now: number): NodeStatus {
  return { ...status, message: boundMessage(message, MAX_STATUS_MESSAGE), lastUpdatedAt: rfc3339Seconds(now) };
}

/**
 * The node's attempt runs: `startedAt` is that of the first attempt, `laStartedAt` that of this
 * one.
 */
export function attemptStarted(status: NodeStatus, now: number): NodeStatus {
  const time = rfc3339Seconds(now);
  return {
    ...changePhase(status, { phase: NodePhase.Running, message: "running", now }),
    startedAt: status.startedAt ?? time,
    laStartedAt: time,
  };
}

/** The next attempt before its start: fields of the last attempt are removed. */
export function nextAttempt(status: NodeStatus, now: number): NodeStatus {
  const next = changePhase(status, { phase: NodePhase.Running, message: "retrying", now });
  next.attempts = (status.attempts ?? 0) + 1;
  delete next.laStartedAt;
  delete next.retryAt;
  delete next.TaskNodeStatus;
  delete next.workflowNodeStatus;
  delete next.arrayNodeStatus;
  delete next.branchStatus;
  delete next.dynamicNodeStatus;
  delete next.deckUri;
  delete next.subNodeStatus;
  return next;
}
