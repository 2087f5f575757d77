import type { CommonUpdate } from "../event/updates.js";
import { NO_SEQ, TERMINAL_SEQ } from "../event/event-seq.js";

/** State common to nodes and task attempts, folded from their events. */
export interface CommonState {
  readonly phaseSeq: bigint;
  /** Time of the earliest event. */
  readonly firstAt: bigint;
  readonly firstSeq: bigint;
  readonly startedAt: bigint | undefined;
  readonly startedSeq: bigint;
  readonly updatedAt: bigint;
  readonly endedAt: bigint | undefined;
  readonly inputUri: string;
  readonly inputs: Uint8Array | undefined;
  readonly outputUri: string;
  readonly outputs: Uint8Array | undefined;
  /** Outputs by value are recorded. */
  readonly hasOutputs: boolean;
  /** Reason why admin assumed its end; undefined when it did not. */
  readonly inferredReason: string | undefined;
}

/** Effect of an event on a state. */
export interface UpdateEffect {
  readonly seq: bigint;
  /** The state takes the event's phase. */
  readonly advancesPhase: boolean;
  readonly marksStart: boolean;
  readonly isTerminal: boolean;
}

/** True when an end replaces the recorded one: a reported end replaces an assumed one. */
export function supersedesInferredEnd(before: CommonState, update: CommonUpdate): boolean {
  return before.inferredReason !== undefined && update.inferredReason === undefined;
}

/** Returns an order after everything in the row. */
export function nextSeq(state: CommonState | undefined): bigint {
  return state === undefined ? 0n : state.phaseSeq + 1n;
}

/**
 * True when a start of this order is the earliest reported: the first start is kept, and propeller
 * repeats it after a restart.
 */
export function isEarliestStart({ startedSeq }: Pick<CommonState, "startedSeq">, seq: bigint): boolean {
  return startedSeq === NO_SEQ || seq < startedSeq;
}

export function foldCommonState(
  before: CommonState,
  update: CommonUpdate,
  { seq, advancesPhase, marksStart, isTerminal }: UpdateEffect,
): CommonState {
  const first = before.firstSeq === NO_SEQ || seq < before.firstSeq;
  return {
    phaseSeq: seq > before.phaseSeq ? seq : before.phaseSeq,
    firstAt: first ? update.occurredAt : before.firstAt,
    firstSeq: first ? seq : before.firstSeq,
    ...startOf(before, update, { seq, marksStart }),
    updatedAt: advancesPhase ? update.reportedAt : before.updatedAt,
    endedAt: isTerminal ? update.occurredAt : before.endedAt,
    inputUri: before.inputUri || update.inputUri,
    inputs: before.inputs ?? update.inputs,
    outputUri: isTerminal ? (update.outputUri ?? "") : before.outputUri,
    outputs: isTerminal ? update.outputs : before.outputs,
    hasOutputs: before.hasOutputs || (isTerminal && update.outputs !== undefined),
    inferredReason: isTerminal ? update.inferredReason : before.inferredReason,
  };
}

/**
 * Returns the earliest start reported by an event; else the one stated by a terminal event. Never
 * moves a start that is already shown to a later time: a terminal event may take it from a status
 * in whole seconds, and a late event may then report a start later in that second.
 */
function startOf(
  { startedAt, startedSeq }: CommonState,
  update: CommonUpdate,
  { seq, marksStart }: Pick<UpdateEffect, "seq" | "marksStart">,
): Pick<CommonState, "startedAt" | "startedSeq"> {
  if (marksStart) return { startedAt: earliest(startedSeq === TERMINAL_SEQ ? startedAt : undefined, update.occurredAt), startedSeq: seq };
  if (update.startedAt !== undefined && startedSeq === NO_SEQ) return { startedAt: update.startedAt, startedSeq: TERMINAL_SEQ };
  return { startedAt, startedSeq };
}

export function earliest(stated: bigint | undefined, reported: bigint): bigint {
  return stated !== undefined && stated < reported ? stated : reported;
}

/** State before the first event. */
export function emptyCommonState(update: CommonUpdate): CommonState {
  return {
    phaseSeq: NO_SEQ,
    firstAt: update.occurredAt,
    firstSeq: NO_SEQ,
    startedAt: undefined,
    startedSeq: NO_SEQ,
    updatedAt: update.reportedAt,
    endedAt: undefined,
    inputUri: "",
    inputs: undefined,
    outputUri: "",
    outputs: undefined,
    hasOutputs: false,
    inferredReason: undefined,
  };
}

/** Returns the outputs that a recorded end lacks and a later event of the same end has. */
export function completeOutputs(
  { outputUri, hasOutputs }: CommonState,
  update: CommonUpdate,
): Partial<Pick<CommonState, "outputUri" | "outputs" | "hasOutputs">> {
  if (update.outputs !== undefined && !hasOutputs)
    return { outputs: update.outputs, hasOutputs: true, outputUri: update.outputUri ?? outputUri };
  return outputUri === "" && update.outputUri !== undefined ? { outputUri: update.outputUri } : {};
}
