import { NodeExecution_Phase as Event } from "@flyte-ts/idl/flyteidl/core/execution_pb";

/** Numbers of `status.nodeStatus.<id>.phase` in the FlyteWorkflow resource. */
export const NodePhase = {
  NotYetStarted: 0,
  Queued: 1,
  Running: 2,
  Failing: 3,
  Succeeding: 4,
  Succeeded: 5,
  Failed: 6,
  Skipped: 7,
  RetryableFailure: 8,
  TimingOut: 9,
  TimedOut: 10,
  DynamicRunning: 11,
  Recovered: 12,
} as const;
export type NodePhase = (typeof NodePhase)[keyof typeof NodePhase];

export interface NodePhaseRow {
  /** Number in the resource. */
  readonly phase: NodePhase;
  readonly name: keyof typeof NodePhase;
  /**
   * Phase in events about a node in this state. Between two attempts a node is still RUNNING for
   * readers.
   */
  readonly event: Event;
  /** The phase is final. */
  readonly terminal: boolean;
}

/** The only table of node phases, in the order of their numbers. */
export const nodePhases: readonly NodePhaseRow[] = [
  { phase: 0, name: "NotYetStarted", event: Event.UNDEFINED, terminal: false },
  { phase: 1, name: "Queued", event: Event.QUEUED, terminal: false },
  { phase: 2, name: "Running", event: Event.RUNNING, terminal: false },
  { phase: 3, name: "Failing", event: Event.FAILING, terminal: false },
  { phase: 4, name: "Succeeding", event: Event.SUCCEEDED, terminal: false },
  { phase: 5, name: "Succeeded", event: Event.SUCCEEDED, terminal: true },
  { phase: 6, name: "Failed", event: Event.FAILED, terminal: true },
  { phase: 7, name: "Skipped", event: Event.SKIPPED, terminal: true },
  { phase: 8, name: "RetryableFailure", event: Event.RUNNING, terminal: false },
  { phase: 9, name: "TimingOut", event: Event.TIMED_OUT, terminal: false },
  { phase: 10, name: "TimedOut", event: Event.TIMED_OUT, terminal: true },
  { phase: 11, name: "DynamicRunning", event: Event.DYNAMIC_RUNNING, terminal: false },
  { phase: 12, name: "Recovered", event: Event.RECOVERED, terminal: true },
];

const terminalEvents: ReadonlySet<Event> = new Set([
  Event.SUCCEEDED,
  Event.FAILED,
  Event.ABORTED,
  Event.SKIPPED,
  Event.TIMED_OUT,
  Event.RECOVERED,
]);

/** True when a node in this phase (number in the resource) is done; false for an unknown number. */
export function isTerminalNode(phase: number): boolean {
  return nodePhases[phase]?.terminal ?? false;
}

/** True when an event with this phase is a node's last. */
export function isTerminalNodeEvent(phase: Event): boolean {
  return terminalEvents.has(phase);
}

/** Event phase of a resource phase; UNDEFINED for an unknown number. */
export function nodeEventPhase(phase: number): Event {
  return nodePhases[phase]?.event ?? Event.UNDEFINED;
}
