import { isTerminalTaskEvent } from "@flyte-ts/domain";
import { TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { TaskFact } from "./facts.js";
import { ifChanged } from "./if-changed.js";
import { completeOutputs, foldProgress, isFirstStart, noProgress, type Progress, replacesEnd } from "./progress.js";

/** What events have told of a task attempt so far, as far as the row holds it; it started when it ran first. */
export interface TaskState extends Progress {
  readonly phase: TaskExecution_Phase;
  readonly phaseVersion: number;
}

/** Whether the event belongs to the attempt's history: all but a second end does. An end that admin assumed gives way. */
export function belongsToTask(state: TaskState | undefined, fact: TaskFact): boolean {
  return state === undefined || !isTerminalTaskEvent(state.phase) || !isTerminalTaskEvent(fact.phase) || replacesEnd(state, fact);
}

/** Adds one event; the same promise as foldWorkflow gives. */
export function foldTask(state: TaskState | undefined, fact: TaskFact, order: bigint): TaskState {
  if (state !== undefined && !belongsToTask(state, fact))
    return fact.phase === state.phase ? ifChanged(state, { ...state, ...completeOutputs(state, fact) }) : state;
  const before = state ?? emptyTask(fact);
  const ends = isTerminalTaskEvent(fact.phase);
  const moves = ends || (!isTerminalTaskEvent(before.phase) && order > before.phaseOrder);
  const runs = fact.phase === TaskExecution_Phase.RUNNING;
  const starts = runs && isFirstStart(before, order);
  return ifChanged(before, {
    phase: moves ? fact.phase : before.phase,
    phaseVersion: moves ? fact.phaseVersion : before.phaseVersion,
    ...foldProgress(before, fact, { order, moves, starts, ends }),
  });
}

function emptyTask(fact: TaskFact): TaskState {
  return {
    phase: TaskExecution_Phase.UNDEFINED,
    phaseVersion: 0,
    ...noProgress(fact),
  };
}
