import { type NodeExecution_Phase, TaskExecution_Phase, type WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";

/** Order that precedes every event. */
export const NO_SEQ = -1n;

/**
 * Order after every event except a terminal one: after a user's abort, only the terminal event
 * changes the state.
 */
export const ABORT_SEQ = 2n ** 62n - 1n;

/** Order of the facts in a terminal event, after every other order. */
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
