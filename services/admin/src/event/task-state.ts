import { isTerminalTaskEvent } from "@flyte-ts/domain";
import { TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { TaskFact } from "./facts.js";
import { NO_ORDER } from "./order.js";

/** What events have told of a task attempt so far, as far as the row holds it. */
export interface TaskState {
  readonly phase: TaskExecution_Phase;
  readonly phaseVersion: number;
  readonly phaseOrder: bigint;
  readonly firstAt: bigint;
  readonly firstOrder: bigint;
  /** When the attempt ran first. */
  readonly startedAt: bigint | undefined;
  readonly startedOrder: bigint;
  readonly updatedAt: bigint;
  readonly endedAt: bigint | undefined;
  readonly inputUri: string;
  readonly inputs: Uint8Array | undefined;
  readonly outputUri: string;
  readonly outputs: Uint8Array | undefined;
}

/** The order that puts an event behind all that the row holds. */
export function nextTaskOrder(state: TaskState | undefined): bigint {
  return state === undefined ? 0n : state.phaseOrder + 1n;
}

/** Whether the event belongs to the attempt's history: all but a second end does. */
export function belongsToTask(state: TaskState | undefined, fact: TaskFact): boolean {
  return state === undefined || !isTerminalTaskEvent(state.phase) || !isTerminalTaskEvent(fact.phase);
}

/** Adds one event; the same promise as foldWorkflow gives. */
export function foldTask(state: TaskState | undefined, fact: TaskFact, order: bigint): TaskState {
  if (state !== undefined && !belongsToTask(state, fact)) return state;
  const before = state ?? emptyTask(fact);
  const ends = isTerminalTaskEvent(fact.phase);
  const moves = ends || (!isTerminalTaskEvent(before.phase) && order > before.phaseOrder);
  const runs = fact.phase === TaskExecution_Phase.RUNNING;
  const starts = runs && (before.startedOrder === NO_ORDER || order < before.startedOrder);
  const first = before.firstOrder === NO_ORDER || order < before.firstOrder;
  return {
    phase: moves ? fact.phase : before.phase,
    phaseVersion: moves ? fact.phaseVersion : before.phaseVersion,
    phaseOrder: order > before.phaseOrder ? order : before.phaseOrder,
    firstAt: first ? fact.occurredAt : before.firstAt,
    firstOrder: first ? order : before.firstOrder,
    startedAt: starts ? fact.occurredAt : before.startedAt,
    startedOrder: starts ? order : before.startedOrder,
    updatedAt: moves ? fact.reportedAt : before.updatedAt,
    endedAt: ends ? fact.occurredAt : before.endedAt,
    inputUri: before.inputUri || fact.inputUri,
    inputs: before.inputs ?? fact.inputs,
    outputUri: ends ? (fact.outputUri ?? "") : before.outputUri,
    outputs: ends ? fact.outputs : before.outputs,
  };
}

function emptyTask(fact: TaskFact): TaskState {
  return {
    phase: TaskExecution_Phase.UNDEFINED,
    phaseVersion: 0,
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
  };
}
