/** Appearance of a phase: each kind has its own shape and colour. */
export type PhaseKind = "ok" | "run" | "wait" | "bad" | "stop" | "ask" | "hit";

export interface PhaseLook {
  readonly kind: PhaseKind;
  readonly word: string;
  /** True when nothing follows this phase. */
  readonly terminal: boolean;
}

const look = (kind: PhaseKind, word: string, terminal = false): PhaseLook => ({ kind, word, terminal });

/** Phases of executions, by the names of `WorkflowExecution.Phase`. */
export const EXECUTION_PHASES = {
  UNDEFINED: look("wait", "Unknown"),
  QUEUED: look("wait", "Queued"),
  RUNNING: look("run", "Running"),
  SUCCEEDING: look("run", "Succeeding"),
  SUCCEEDED: look("ok", "Succeeded", true),
  FAILING: look("bad", "Failing"),
  FAILED: look("bad", "Failed", true),
  ABORTING: look("stop", "Aborting"),
  ABORTED: look("stop", "Aborted", true),
  TIMED_OUT: look("bad", "Timed out", true),
} as const satisfies Readonly<Record<string, PhaseLook>>;

export type ExecutionPhase = keyof typeof EXECUTION_PHASES;

/** Phases of nodes, by the names of `NodeExecution.Phase`. */
export const NODE_PHASES = {
  UNDEFINED: look("wait", "Unknown"),
  QUEUED: look("wait", "Queued"),
  RUNNING: look("run", "Running"),
  DYNAMIC_RUNNING: look("run", "Running"),
  SUCCEEDED: look("ok", "Succeeded", true),
  FAILING: look("bad", "Failing"),
  FAILED: look("bad", "Failed", true),
  ABORTED: look("stop", "Aborted", true),
  SKIPPED: look("wait", "Skipped", true),
  TIMED_OUT: look("bad", "Timed out", true),
  RECOVERED: look("hit", "Recovered", true),
} as const satisfies Readonly<Record<string, PhaseLook>>;

export type NodePhase = keyof typeof NODE_PHASES;

/** Returns the look of an execution's phase; a name of a newer server is unknown. */
export function executionPhaseLook(phase: string | undefined): PhaseLook {
  return isExecutionPhase(phase) ? EXECUTION_PHASES[phase] : EXECUTION_PHASES.UNDEFINED;
}

/** Returns the look of a node's phase; a name of a newer server is unknown. */
export function nodePhaseLook(phase: string | undefined): PhaseLook {
  return phase !== undefined && Object.hasOwn(NODE_PHASES, phase) ? NODE_PHASES[phase as NodePhase] : NODE_PHASES.UNDEFINED;
}

export function isExecutionPhase(phase: string | undefined): phase is ExecutionPhase {
  return phase !== undefined && Object.hasOwn(EXECUTION_PHASES, phase);
}
