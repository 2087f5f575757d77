import { isTerminalWorkflowEvent } from "@flyte-ts/domain";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { ErrorFact, WorkflowFact } from "./facts.js";
import { ifChanged } from "./if-changed.js";
import { NO_ORDER, TERMINAL_ORDER } from "./order.js";
import { earliest } from "./progress.js";
import { notBefore } from "./time.js";

/** State of an execution, folded from its events. */
export interface WorkflowState {
  readonly phase: WorkflowExecution_Phase;
  /**
   * Time at which admin accepted the execution, nanoseconds since the epoch; the lower bound of its start, up to the
   * difference of clocks.
   */
  readonly acceptedAt: bigint;
  /** The highest order of any event; that of the phase's event, unless the phase was kept in spite of a later event. */
  readonly phaseOrder: bigint;
  readonly startedAt: bigint | undefined;
  readonly startedOrder: bigint;
  readonly updatedAt: bigint;
  readonly endedAt: bigint | undefined;
  readonly result: WorkflowResult | undefined;
  readonly resultOrder: bigint;
}

export type WorkflowResult =
  | { readonly kind: "outputs"; readonly uri: string; readonly values: Uint8Array | undefined }
  | { readonly kind: "error"; readonly error: ErrorFact }
  | { readonly kind: "abort"; readonly cause: string; readonly principal: string };

export function acceptedWorkflow(acceptedAt: bigint): WorkflowState {
  return {
    phase: WorkflowExecution_Phase.UNDEFINED,
    acceptedAt,
    phaseOrder: NO_ORDER,
    startedAt: undefined,
    startedOrder: NO_ORDER,
    updatedAt: acceptedAt,
    endedAt: undefined,
    result: undefined,
    resultOrder: NO_ORDER,
  };
}

/** Returns an order after everything in the row. */
export function nextWorkflowOrder(state: WorkflowState): bigint {
  return state.phaseOrder + 1n;
}

/** Duration from start to end, nanoseconds; zero while it is unknown, and where clocks disagree. */
export function elapsed(state: { readonly startedAt: bigint | undefined; readonly endedAt: bigint | undefined }): bigint {
  if (state.startedAt === undefined || state.endedAt === undefined || state.endedAt < state.startedAt) return 0n;
  return state.endedAt - state.startedAt;
}

/**
 * Folds one event. The same events give the same state in any order and with any repetitions, provided that one
 * terminal event is among them: the first to arrive is kept, and a later one of the same phase adds a result that the
 * first did not have. The earliest start is kept; propeller repeats it after each restart. An event without news
 * returns the same object, so that nothing is written: services repeat their state when asked for it.
 */
export function foldWorkflow(state: WorkflowState, fact: WorkflowFact, order: bigint): WorkflowState {
  const ends = isTerminalWorkflowEvent(fact.phase);
  const ended = isTerminalWorkflowEvent(state.phase);
  if (ends && ended) return completeWorkflow(state, fact);
  const moves = !ended && (ends || (state.phase !== WorkflowExecution_Phase.ABORTING && order > state.phaseOrder));
  const start = startOf(state, fact, order);
  const resultOrder = ends ? TERMINAL_ORDER : order;
  const result = resultOrder > state.resultOrder ? resultOf(fact) : undefined;
  return ifChanged(state, {
    acceptedAt: state.acceptedAt,
    phase: moves ? fact.phase : state.phase,
    phaseOrder: order > state.phaseOrder ? order : state.phaseOrder,
    ...start,
    updatedAt: moves ? fact.occurredAt : state.updatedAt,
    endedAt: ends ? fact.occurredAt : state.endedAt,
    result: result ?? state.result,
    resultOrder: result === undefined ? state.resultOrder : resultOrder,
  });
}

/**
 * Returns the earliest start reported by an event; else the one stated by an end. A start already shown is not moved
 * later (progress.ts).
 */
function startOf(state: WorkflowState, fact: WorkflowFact, order: bigint): Pick<WorkflowState, "startedAt" | "startedOrder"> {
  const { startedAt, startedOrder, acceptedAt } = state;
  if (fact.phase === WorkflowExecution_Phase.RUNNING && (startedOrder === NO_ORDER || order < startedOrder))
    return {
      startedAt: notBefore(acceptedAt, earliest(startedOrder === TERMINAL_ORDER ? startedAt : undefined, fact.occurredAt)),
      startedOrder: order,
    };
  if (fact.startedAt !== undefined && startedOrder === NO_ORDER)
    return { startedAt: notBefore(acceptedAt, fact.startedAt), startedOrder: TERMINAL_ORDER };
  return { startedAt, startedOrder };
}

/** Adds the result of a terminal event to an end that was recorded without one. */
function completeWorkflow(state: WorkflowState, fact: WorkflowFact): WorkflowState {
  if (fact.phase !== state.phase || hasEndResult(state)) return state;
  const result = resultOf(fact);
  if (result === undefined) return state;
  return { ...state, endedAt: fact.occurredAt, updatedAt: fact.occurredAt, result, resultOrder: TERMINAL_ORDER };
}

/** True when the result (outputs or error) came with a terminal event, not with an earlier event, or not at all. */
export function hasEndResult({ resultOrder }: Pick<WorkflowState, "resultOrder">): boolean {
  return resultOrder >= TERMINAL_ORDER;
}

function resultOf(fact: WorkflowFact): WorkflowResult | undefined {
  if (fact.outputUri !== undefined || fact.outputs !== undefined)
    return { kind: "outputs", uri: fact.outputUri ?? "", values: fact.outputs };
  return fact.error === undefined ? undefined : { kind: "error", error: fact.error };
}
