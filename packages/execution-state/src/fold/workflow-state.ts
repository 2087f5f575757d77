import { isTerminalWorkflowEvent } from "@flyte-ts/domain/phase";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { ErrorColumns, WorkflowUpdate } from "../event/updates.js";
import { keepIdentityIfEqual } from "./keep-identity.js";
import { NO_SEQ, TERMINAL_SEQ } from "../event/event-seq.js";
import { earliest } from "./common-state.js";
import { notBefore } from "../event/time.js";

/** State of an execution, folded from its events. */
export interface WorkflowState {
  readonly phase: WorkflowExecution_Phase;
  /**
   * Time at which admin accepted the execution, nanoseconds since the epoch; the lower bound of its
   * start, up to the difference of clocks.
   */
  readonly acceptedAt: bigint;
  /**
   * Highest order of all events. It is the order of the event that set the phase, unless a later
   * event left the phase unchanged.
   */
  readonly phaseSeq: bigint;
  readonly startedAt: bigint | undefined;
  readonly startedSeq: bigint;
  readonly updatedAt: bigint;
  readonly endedAt: bigint | undefined;
  readonly result: WorkflowResult | undefined;
  readonly resultSeq: bigint;
}

export type WorkflowResult =
  | { readonly kind: "outputs"; readonly uri: string; readonly values: Uint8Array | undefined }
  | { readonly kind: "error"; readonly error: ErrorColumns }
  | { readonly kind: "abort"; readonly cause: string; readonly principal: string };

export function initialWorkflowState(acceptedAt: bigint): WorkflowState {
  return {
    phase: WorkflowExecution_Phase.UNDEFINED,
    acceptedAt,
    phaseSeq: NO_SEQ,
    startedAt: undefined,
    startedSeq: NO_SEQ,
    updatedAt: acceptedAt,
    endedAt: undefined,
    result: undefined,
    resultSeq: NO_SEQ,
  };
}

/** Returns an order after everything in the row. */
export function nextWorkflowSeq(state: WorkflowState): bigint {
  return state.phaseSeq + 1n;
}

/** Duration from start to end, nanoseconds; zero while it is unknown, and where clocks disagree. */
export function elapsed(state: { readonly startedAt: bigint | undefined; readonly endedAt: bigint | undefined }): bigint {
  if (state.startedAt === undefined || state.endedAt === undefined || state.endedAt < state.startedAt) return 0n;
  return state.endedAt - state.startedAt;
}

/**
 * Folds one event. The same events give the same state in any order and with any repetitions,
 * provided that one terminal event is among them: the first to arrive is kept, and a later one of
 * the same phase adds a result that the first did not have. The earliest start is kept; propeller
 * repeats it after each restart. An event without news returns the same object, so that nothing is
 * written: services repeat their state when asked for it.
 */
export function foldWorkflow(state: WorkflowState, update: WorkflowUpdate, seq: bigint): WorkflowState {
  const ends = isTerminalWorkflowEvent(update.phase);
  const ended = isTerminalWorkflowEvent(state.phase);
  if (ends && ended) return completeWorkflowEnd(state, update);
  const moves = !ended && (ends || (state.phase !== WorkflowExecution_Phase.ABORTING && seq > state.phaseSeq));
  const start = startOf(state, update, seq);
  const resultSeq = ends ? TERMINAL_SEQ : seq;
  const result = resultSeq > state.resultSeq ? resultOf(update) : undefined;
  return keepIdentityIfEqual(state, {
    acceptedAt: state.acceptedAt,
    phase: moves ? update.phase : state.phase,
    phaseSeq: seq > state.phaseSeq ? seq : state.phaseSeq,
    ...start,
    updatedAt: moves ? update.occurredAt : state.updatedAt,
    endedAt: ends ? update.occurredAt : state.endedAt,
    result: result ?? state.result,
    resultSeq: result === undefined ? state.resultSeq : resultSeq,
  });
}

/**
 * Returns the earliest start reported by an event; else the one stated by a terminal event. Never
 * moves a start that is already shown to a later time (see common-state.ts).
 */
function startOf(state: WorkflowState, update: WorkflowUpdate, seq: bigint): Pick<WorkflowState, "startedAt" | "startedSeq"> {
  const { startedAt, startedSeq, acceptedAt } = state;
  if (update.phase === WorkflowExecution_Phase.RUNNING && (startedSeq === NO_SEQ || seq < startedSeq))
    return {
      startedAt: notBefore(acceptedAt, earliest(startedSeq === TERMINAL_SEQ ? startedAt : undefined, update.occurredAt)),
      startedSeq: seq,
    };
  if (update.startedAt !== undefined && startedSeq === NO_SEQ)
    return { startedAt: notBefore(acceptedAt, update.startedAt), startedSeq: TERMINAL_SEQ };
  return { startedAt, startedSeq };
}

/** Adds the result of a terminal event to an end that was recorded without one. */
function completeWorkflowEnd(state: WorkflowState, update: WorkflowUpdate): WorkflowState {
  if (update.phase !== state.phase || hasTerminalResult(state)) return state;
  const result = resultOf(update);
  if (result === undefined) return state;
  return { ...state, endedAt: update.occurredAt, updatedAt: update.occurredAt, result, resultSeq: TERMINAL_SEQ };
}

/**
 * True when the result (outputs or error) came with a terminal event, not with an earlier event, or
 * not at all.
 */
function hasTerminalResult({ resultSeq }: Pick<WorkflowState, "resultSeq">): boolean {
  return resultSeq >= TERMINAL_SEQ;
}

function resultOf(update: WorkflowUpdate): WorkflowResult | undefined {
  if (update.outputUri !== undefined || update.outputs !== undefined)
    return { kind: "outputs", uri: update.outputUri ?? "", values: update.outputs };
  return update.error === undefined ? undefined : { kind: "error", error: update.error };
}
