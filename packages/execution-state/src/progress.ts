import type { ProgressFact } from "./facts.js";
import { NO_ORDER, TERMINAL_ORDER } from "./order.js";

/** State common to nodes and task attempts, folded from their events. */
export interface Progress {
  readonly phaseOrder: bigint;
  /** Time of the earliest event. */
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
  /** Reason why admin assumed its end; undefined when it did not. */
  readonly settled: string | undefined;
}

/** Effect of an event on a state. */
export interface Step {
  readonly order: bigint;
  /** The state takes the event's phase. */
  readonly moves: boolean;
  readonly starts: boolean;
  readonly ends: boolean;
}

/** True when an end replaces the recorded one: a reported end replaces an assumed one. */
export function replacesEnd(before: Progress, fact: ProgressFact): boolean {
  return before.settled !== undefined && fact.settled === undefined;
}

/** Returns an order after everything in the row. */
export function nextOrder(state: Progress | undefined): bigint {
  return state === undefined ? 0n : state.phaseOrder + 1n;
}

/** True when a start of this order is the earliest reported: the first start is kept, and propeller repeats it after a restart. */
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
 * Returns the earliest start reported by an event; else the one stated by an end. A status has whole seconds, so a late
 * event may report a start within the second: a start already shown is not moved later.
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

/** State before the first event. */
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

/** Returns the outputs that a recorded end lacks and a later event of the same end has. */
export function completeOutputs(
  { outputUri, hasOutputs }: Progress,
  fact: ProgressFact,
): Partial<Pick<Progress, "outputUri" | "outputs" | "hasOutputs">> {
  if (fact.outputs !== undefined && !hasOutputs) return { outputs: fact.outputs, hasOutputs: true, outputUri: fact.outputUri ?? outputUri };
  return outputUri === "" && fact.outputUri !== undefined ? { outputUri: fact.outputUri } : {};
}
