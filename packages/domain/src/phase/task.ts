import { TaskExecution_Phase as Event } from "@flyte-ts/idl/flyteidl/core/execution_pb";

/** Numbers of `TaskNodeStatus.phase` in the FlyteWorkflow resource. */
export const TaskPhase = {
  Undefined: 0,
  NotReady: 1,
  WaitingForResources: 2,
  Queued: 3,
  Initializing: 4,
  Running: 5,
  Success: 6,
  RetryableFailure: 7,
  PermanentFailure: 8,
  WaitingForCache: 9,
  Aborted: 10,
} as const;
export type TaskPhase = (typeof TaskPhase)[keyof typeof TaskPhase];

export interface TaskPhaseRow {
  /** Number in the resource. */
  readonly phase: TaskPhase;
  readonly name: keyof typeof TaskPhase;
  /** Phase in events; UNDEFINED for phases that are not reported. */
  readonly event: Event;
  /** The phase is final. */
  readonly terminal: boolean;
}

/** The only table of phases of a task attempt, in the order of their numbers. */
export const taskPhases: readonly TaskPhaseRow[] = [
  { phase: 0, name: "Undefined", event: Event.UNDEFINED, terminal: false },
  { phase: 1, name: "NotReady", event: Event.UNDEFINED, terminal: false },
  { phase: 2, name: "WaitingForResources", event: Event.WAITING_FOR_RESOURCES, terminal: false },
  { phase: 3, name: "Queued", event: Event.QUEUED, terminal: false },
  { phase: 4, name: "Initializing", event: Event.INITIALIZING, terminal: false },
  { phase: 5, name: "Running", event: Event.RUNNING, terminal: false },
  { phase: 6, name: "Success", event: Event.SUCCEEDED, terminal: true },
  { phase: 7, name: "RetryableFailure", event: Event.FAILED, terminal: true },
  { phase: 8, name: "PermanentFailure", event: Event.FAILED, terminal: true },
  { phase: 9, name: "WaitingForCache", event: Event.UNDEFINED, terminal: false },
  { phase: 10, name: "Aborted", event: Event.ABORTED, terminal: true },
];

const terminalEvents: ReadonlySet<Event> = new Set([Event.SUCCEEDED, Event.FAILED, Event.ABORTED]);

/** True when an event with this phase is an attempt's last. */
export function isTerminalTaskEvent(phase: Event): boolean {
  return terminalEvents.has(phase);
}

/** Event phase of a resource phase; UNDEFINED for phases that are not reported. */
export function taskEventPhase(phase: number): Event {
  return taskPhases[phase]?.event ?? Event.UNDEFINED;
}

/**
 * Resource phase of an attempt that reported `event`. A failure is RetryableFailure
 * when `recoverable`, else PermanentFailure.
 */
export function taskPhaseOfEvent(event: Event, recoverable: boolean): TaskPhase {
  if (event === Event.FAILED) return recoverable ? TaskPhase.RetryableFailure : TaskPhase.PermanentFailure;
  if (event === Event.RETRYABLE_FAILED) return TaskPhase.RetryableFailure;
  return taskPhases.find((row) => row.event === event)?.phase ?? TaskPhase.Undefined;
}
