import { isTerminalNodeEvent, isTerminalTaskEvent, isTerminalWorkflowEvent } from "@flyte-ts/domain/phase";
import { type NodeExecution_Phase, type TaskExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";

/**
 * Effect of an event on a phase.
 * - `apply`: the phase changes.
 * - `repeated`: this phase is stored already.
 * - `ended`: the row is in a terminal phase, which is final.
 * - `backward`: an earlier phase, which is not allowed here.
 *
 * The event RPCs return an error for all but `apply`. From the bus, which delivers late and
 * duplicate events, such an event changes no phase, but its other data is stored.
 */
export type Transition = "apply" | "repeated" | "ended" | "backward";

export function workflowTransition(current: WorkflowExecution_Phase, next: WorkflowExecution_Phase): Transition {
  // QUEUED may be repeated: clusters reported with it that they had taken over an execution.
  if (current === next && next !== WorkflowExecution_Phase.QUEUED) return "repeated";
  if (isTerminalWorkflowEvent(current)) return "ended";
  if (current === WorkflowExecution_Phase.RUNNING && next === WorkflowExecution_Phase.QUEUED) return "backward";
  if (current === WorkflowExecution_Phase.ABORTING && !isTerminalWorkflowEvent(next)) return "backward";
  return "apply";
}

/** A node may go back (RUNNING to QUEUED) between two attempts. */
export function nodeTransition(current: NodeExecution_Phase, next: NodeExecution_Phase): Transition {
  if (current === next) return "repeated";
  return isTerminalNodeEvent(current) ? "ended" : "apply";
}

export interface TaskPosition {
  readonly phase: TaskExecution_Phase;
  readonly phaseVersion: number;
}

/** Within a phase only a higher version applies; an attempt may go back until it is terminal. */
export function taskTransition(current: TaskPosition, next: TaskPosition): Transition {
  if (current.phase === next.phase && next.phaseVersion <= current.phaseVersion) return "repeated";
  return isTerminalTaskEvent(current.phase) ? "ended" : "apply";
}
