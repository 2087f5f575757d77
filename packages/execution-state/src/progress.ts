import type { ProgressFact } from "./facts.js";
import { NO_ORDER, TERMINAL_ORDER } from "./order.js";

/** What events have told so far of something that runs: what nodes and task attempts have in common. */
export interface Progress {
  readonly phaseOrder: bigint;
  /** When the earliest event occurred. */
  readonly firstAt: bigint;
  readonly firstOrder: bigint;
  readonly startedAt: bigint | undefined;
  readonly startedOrder: bigint;
  readonly updatedAt: bigint;
  readonly endedAt: bigint | undefined;
  readonly inputUri: string;
  readonly inputs: Uint8Array | undefined;
  readonly outputUri: string;
  readonly outputs: Uint8Array | undefined;
  /** Outputs by value are recorded. */
  readonly hasOutputs: boolean;
  /** Why admin ended it itself; undefined when it did not. */
  readonly settled: string | undefined;
}

/** What an event does to a state. */
export interface Step {
  readonly order: bigint;
  /** Its phase becomes the state's. */
  readonly moves: boolean;
  readonly starts: boolean;
  readonly ends: boolean;
}

/** Whether an end takes the place of the one that the row has: a reported one that of an assumed one. */
export function replacesEnd(before: Progress, fact: ProgressFact): boolean {
  return before.settled !== undefined && fact.settled === undefined;
}

/** The order that puts an event behind all that the row holds. */
export function nextOrder(state: Progress | undefined): bigint {
  return state === undefined ? 0n : state.phaseOrder + 1n;
}

/** Reports whether a start of this order is the earliest that was told: the first start stands, and propeller repeats it after a restart. */
export function isFirstStart({ startedOrder }: Pick<Progress, "startedOrder">, order: bigint): boolean {
  return startedOrder === NO_ORDER || order < startedOrder;
}

export function foldProgress(before: Progress, fact: ProgressFact, { order, moves, starts, ends }: Step): Progress {
  const first = before.firstOrder === NO_ORDER || order < before.firstOrder;
  return {
    phaseOrder: order > before.phaseOrder ? order : before.phaseOrder,
    firstAt: first ? fact.occurredAt : before.firstAt,
    firstOrder: first ? order : before.firstOrder,
    ...startOf(before, fact, { order, starts }),
    updatedAt: moves ? fact.reportedAt : before.updatedAt,
    endedAt: ends ? fact.occurredAt : before.endedAt,
    inputUri: before.inputUri || fact.inputUri,
    inputs: before.inputs ?? fact.inputs,
    outputUri: ends ? (fact.outputUri ?? "") : before.outputUri,
    outputs: ends ? fact.outputs : before.outputs,
    hasOutputs: before.hasOutputs || (ends && fact.outputs !== undefined),
    settled: ends ? fact.settled : before.settled,
  };
}

/**
 * The earliest start that was told by an event; else what an end says of it. A status counts whole seconds, so that an event that comes
 * late may tell of a start within the second: the start that was shown does not move on.
 */
function startOf(
  { startedAt, startedOrder }: Progress,
  fact: ProgressFact,
  { order, starts }: Pick<Step, "order" | "starts">,
): Pick<Progress, "startedAt" | "startedOrder"> {
  if (starts) return { startedAt: earliest(startedOrder === TERMINAL_ORDER ? startedAt : undefined, fact.occurredAt), startedOrder: order };
  if (fact.startedAt !== undefined && startedOrder === NO_ORDER) return { startedAt: fact.startedAt, startedOrder: TERMINAL_ORDER };
  return { startedAt, startedOrder };
}

export function earliest(assumed: bigint | undefined, told: bigint): bigint {
  return assumed !== undefined && assumed < told ? assumed : told;
}

/** Before the first event. */
export function noProgress(fact: ProgressFact): Progress {
  return {
    phaseOrder: NO_ORDER,
    firstAt: fact.occurredAt,
    firstOrder: NO_ORDER,
    startedAt: undefined,
    startedOrder: NO_ORDER,
    updatedAt: fact.reportedAt,
    endedAt: undefined,
    inputUri: "",
    inputs: undefined,
    outputUri: "",
    outputs: undefined,
    hasOutputs: false,
    settled: undefined,
  };
}

/** What of the outputs a recorded end lacks and a later event of the same end tells. */
export function completeOutputs(
  { outputUri, hasOutputs }: Progress,
  fact: ProgressFact,
): Partial<Pick<Progress, "outputUri" | "outputs" | "hasOutputs">> {
  if (fact.outputs !== undefined && !hasOutputs) return { outputs: fact.outputs, hasOutputs: true, outputUri: fact.outputUri ?? outputUri };
  return outputUri === "" && fact.outputUri !== undefined ? { outputUri: fact.outputUri } : {};
}
