import { isTerminalTaskEvent } from "@flyte-ts/domain";
import { TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { TaskFact } from "./facts.js";
import { ifChanged } from "./if-changed.js";
import { completeOutputs, foldProgress, isFirstStart, noProgress, type Progress, replacesEnd } from "./progress.js";

/** State of a task attempt, folded from its events, as stored in the row; it starts when it first runs. */
export interface TaskState extends Progress {
  readonly phase: TaskExecution_Phase;
  readonly phaseVersion: number;
}

/** True when the event belongs to the attempt's history: all but a second end do. A reported end replaces one that admin assumed. */
export function belongsToTask(state: TaskState | undefined, fact: TaskFact): boolean {
  return state === undefined || !isTerminalTaskEvent(state.phase) || !isTerminalTaskEvent(fact.phase) || replacesEnd(state, fact);
}

/** Folds one event; with the same guarantees as foldWorkflow. */
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
