import { isTerminalNodeEvent, isTerminalTaskEvent, isTerminalWorkflowEvent } from "@flyte-ts/domain";
import { type NodeExecution_Phase, type TaskExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";

/**
 * Whether an event moves what it is about (contract §2.7).
 * - `apply`: it does.
 * - `repeated`: this phase is recorded already.
 * - `ended`: the row is in a terminal phase, which it leaves no more.
 * - `backward`: the phase goes back where that is not allowed.
 *
 * A caller of the event RPCs is told of everything but `apply`; from the bus, where events
 * come late and twice, such an event moves no phase and its facts still find their place.
 */
export type Verdict = "apply" | "repeated" | "ended" | "backward";

export function judgeWorkflow(current: WorkflowExecution_Phase, next: WorkflowExecution_Phase): Verdict {
  // QUEUED may be told again: so a cluster announced that it had taken an execution over.
  if (current === next && next !== WorkflowExecution_Phase.QUEUED) return "repeated";
  if (isTerminalWorkflowEvent(current)) return "ended";
  if (current === WorkflowExecution_Phase.RUNNING && next === WorkflowExecution_Phase.QUEUED) return "backward";
  if (current === WorkflowExecution_Phase.ABORTING && !isTerminalWorkflowEvent(next)) return "backward";
  return "apply";
}

/** A node may go back (RUNNING to QUEUED) between two attempts. */
export function judgeNode(current: NodeExecution_Phase, next: NodeExecution_Phase): Verdict {
  if (current === next) return "repeated";
  return isTerminalNodeEvent(current) ? "ended" : "apply";
}

export interface TaskPosition {
  readonly phase: TaskExecution_Phase;
  readonly phaseVersion: number;
}

/** Within a phase only a higher version is news; an attempt may go back while it has not ended. */
export function judgeTask(current: TaskPosition, next: TaskPosition): Verdict {
  if (current.phase === next.phase && next.phaseVersion <= current.phaseVersion) return "repeated";
  return isTerminalTaskEvent(current.phase) ? "ended" : "apply";
}
