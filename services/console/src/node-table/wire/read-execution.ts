import { readFields } from "../../wire/read-fields.js";

/**
 * Fields of a flyteidl.admin.Execution that a table of its nodes needs; GetExecution returns the
 * others as JSON.
 */
export interface ExecutionState {
  /** Number of flyteidl.core.WorkflowExecution.Phase. */
  readonly phase: number;
  /** The phase is a terminal one. */
  readonly hasEnded: boolean;
  /** Milliseconds of the epoch; 0 if not set. */
  readonly createdAtMs: number;
  /** Milliseconds of the epoch; 0 before the start. */
  readonly startedAtMs: number;
  /** Time of the last event, milliseconds of the epoch; 0 if not set. */
  readonly updatedAtMs: number;
  /** Milliseconds from start to end; 0 before the end. */
  readonly durationMs: number;
}

/** SUCCEEDED, FAILED, ABORTED and TIMED_OUT of flyteidl.core.WorkflowExecution.Phase. */
const TERMINAL: ReadonlySet<number> = new Set([4, 6, 7, 8]);
/** Number of the field `closure` of flyteidl.admin.Execution. */
const CLOSURE = 3;

/** Reads an encoded flyteidl.admin.Execution. */
export function readExecution(bytes: Uint8Array): ExecutionState {
  const state = { phase: 0, createdAtMs: 0, startedAtMs: 0, updatedAtMs: 0, durationMs: 0 };
  const readClosure = (closure: Uint8Array): void =>
    readFields(closure, {
      number: (field, value) => {
        if (field === 4) state.phase = value;
      },
      bytes: (field, value) => {
        if (field === 5) state.startedAtMs = readMs(value);
        if (field === 6) state.durationMs = readMs(value);
        if (field === 7) state.createdAtMs = readMs(value);
        if (field === 8) state.updatedAtMs = readMs(value);
      },
    });
  readFields(bytes, {
    bytes: (field, value) => {
      if (field === CLOSURE) readClosure(value);
    },
  });
  return { ...state, hasEnded: TERMINAL.has(state.phase) };
}

/** Reads a google.protobuf.Timestamp or Duration that is not negative, in milliseconds. */
function readMs(bytes: Uint8Array): number {
  let [seconds, nanos] = [0, 0];
  readFields(bytes, {
    number: (field, value) => {
      if (field === 1) seconds = value;
      if (field === 2) nanos = value;
    },
  });
  return seconds * 1000 + Math.floor(nanos / 1_000_000);
}
