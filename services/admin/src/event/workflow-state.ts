import { isTerminalWorkflowEvent } from "@flyte-ts/domain";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { ErrorFact, WorkflowFact } from "./facts.js";
import { ifChanged } from "./if-changed.js";
import { NO_ORDER, TERMINAL_ORDER } from "./order.js";

/** What events have told of an execution so far. */
export interface WorkflowState {
  readonly phase: WorkflowExecution_Phase;
  /** The latest order of any event; the phase's own, unless that was kept in spite of a later event. */
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
    phaseOrder: NO_ORDER,
    startedAt: undefined,
    startedOrder: NO_ORDER,
    updatedAt: acceptedAt,
    endedAt: undefined,
    result: undefined,
    resultOrder: NO_ORDER,
  };
}

/** The order that puts an event behind all that the row holds. */
export function nextWorkflowOrder(state: WorkflowState): bigint {
  return state.phaseOrder + 1n;
}

/** From the start to the end, nanoseconds; zero while it is not known. */
export function elapsed(state: { readonly startedAt: bigint | undefined; readonly endedAt: bigint | undefined }): bigint {
  return state.startedAt === undefined || state.endedAt === undefined ? 0n : state.endedAt - state.startedAt;
}

/**
 * Adds one event. The same events give the same state in any order and however often each
 * comes, as long as there is one terminal event among them: the first that comes stands. One that says nothing
 * new gives the same object back, so that nothing is written: services that are asked how it stands repeat themselves.
 */
export function foldWorkflow(state: WorkflowState, fact: WorkflowFact, order: bigint): WorkflowState {
  const ends = isTerminalWorkflowEvent(fact.phase);
  const ended = isTerminalWorkflowEvent(state.phase);
  if (ends && ended) return state;
  const moves = !ended && (ends || (state.phase !== WorkflowExecution_Phase.ABORTING && order > state.phaseOrder));
  const starts = fact.phase === WorkflowExecution_Phase.RUNNING && order > state.startedOrder;
  const resultOrder = ends ? TERMINAL_ORDER : order;
  const result = resultOrder > state.resultOrder ? resultOf(fact) : undefined;
  return ifChanged(state, {
    phase: moves ? fact.phase : state.phase,
    phaseOrder: order > state.phaseOrder ? order : state.phaseOrder,
    startedAt: starts ? fact.occurredAt : state.startedAt,
    startedOrder: starts ? order : state.startedOrder,
    updatedAt: moves ? fact.occurredAt : state.updatedAt,
    endedAt: ends ? fact.occurredAt : state.endedAt,
    result: result ?? state.result,
    resultOrder: result === undefined ? state.resultOrder : resultOrder,
  });
}

function resultOf(fact: WorkflowFact): WorkflowResult | undefined {
  if (fact.outputUri !== undefined || fact.outputs !== undefined)
    return { kind: "outputs", uri: fact.outputUri ?? "", values: fact.outputs };
  return fact.error === undefined ? undefined : { kind: "error", error: fact.error };
}
