import { WorkflowExecution_Phase as Event } from "@flyte-ts/idl/flyteidl/core/execution_pb";

/** Numbers of `status.phase` in the FlyteWorkflow resource. */
export const WorkflowPhase = {
  Ready: 0,
  Running: 1,
  Succeeding: 2,
  Success: 3,
  Failing: 4,
  Failed: 5,
  Aborted: 6,
  HandlingFailureNode: 7,
} as const;
export type WorkflowPhase = (typeof WorkflowPhase)[keyof typeof WorkflowPhase];

export interface WorkflowPhaseRow {
  /** Number in the resource. */
  readonly phase: WorkflowPhase;
  readonly name: keyof typeof WorkflowPhase;
  /** Phase in events; Ready has none, as nothing is reported before the workflow runs. */
  readonly event: Event;
  /** The phase is final. */
  readonly terminal: boolean;
}

/** The only table of workflow phases, in the order of their numbers. */
export const workflowPhases: readonly WorkflowPhaseRow[] = [
  { phase: 0, name: "Ready", event: Event.UNDEFINED, terminal: false },
  { phase: 1, name: "Running", event: Event.RUNNING, terminal: false },
  { phase: 2, name: "Succeeding", event: Event.SUCCEEDING, terminal: false },
  { phase: 3, name: "Success", event: Event.SUCCEEDED, terminal: true },
  { phase: 4, name: "Failing", event: Event.FAILING, terminal: false },
  { phase: 5, name: "Failed", event: Event.FAILED, terminal: true },
  { phase: 6, name: "Aborted", event: Event.ABORTED, terminal: true },
  { phase: 7, name: "HandlingFailureNode", event: Event.FAILING, terminal: false },
];

const terminalEvents: ReadonlySet<Event> = new Set([Event.SUCCEEDED, Event.FAILED, Event.ABORTED, Event.TIMED_OUT]);

/**
 * True when a workflow in this phase (number in the resource) is done; false for an unknown number.
 */
export function isTerminalWorkflow(phase: number): boolean {
  return workflowPhases[phase]?.terminal ?? false;
}

/** True when an execution with this event phase is done. */
export function isTerminalWorkflowEvent(phase: Event): boolean {
  return terminalEvents.has(phase);
}

/** Event phase of a resource phase; UNDEFINED for Ready and for an unknown number. */
export function workflowEventPhase(phase: number): Event {
  return workflowPhases[phase]?.event ?? Event.UNDEFINED;
}
