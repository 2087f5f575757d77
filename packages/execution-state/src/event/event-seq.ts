import { type NodeExecution_Phase, TaskExecution_Phase, type WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";

/** Precedes every event. */
export const NO_SEQ = -1n;

/**
 * Follows every event but a terminal one: only the end itself replaces the state after a user's
 * abort.
 */
export const ABORT_SEQ = 2n ** 62n - 1n;

/** Follows everything: facts of the terminal event. */
export const TERMINAL_SEQ = 2n ** 62n;

/**
 * Order of an event in its execution. Propeller numbers its events; for a sender without numbers
 * (0) time decides, and at equal times the later phase.
 */
export function executionEventSeq(sequence: bigint, occurredAt: bigint, phase: NodeExecution_Phase | WorkflowExecution_Phase): bigint {
  if (sequence > 0n) return sequence;
  return (occurredAt / 1000n) * 4n + (phase < 3 ? BigInt(phase) : 3n);
}

const TASK_PHASES_IN_ORDER: readonly TaskExecution_Phase[] = [
  TaskExecution_Phase.UNDEFINED,
  TaskExecution_Phase.WAITING_FOR_RESOURCES,
  TaskExecution_Phase.QUEUED,
  TaskExecution_Phase.INITIALIZING,
  TaskExecution_Phase.RUNNING,
  TaskExecution_Phase.RETRYABLE_FAILED,
  TaskExecution_Phase.SUCCEEDED,
  TaskExecution_Phase.FAILED,
  TaskExecution_Phase.ABORTED,
];

/** Order of an event in its attempt: by phase, and within a phase by version. */
export function taskEventSeq(phase: TaskExecution_Phase, version: number): bigint {
  return (BigInt(TASK_PHASES_IN_ORDER.indexOf(phase) + 1) << 32n) | BigInt(version);
}
