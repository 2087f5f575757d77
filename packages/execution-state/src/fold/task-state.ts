import { isTerminalTaskEvent } from "@flyte-ts/domain/phase";
import { TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { TaskUpdate } from "../event/updates.js";
import { keepIdentityIfEqual } from "./keep-identity.js";
import {
  completeOutputs,
  foldCommonState,
  isEarliestStart,
  emptyCommonState,
  type CommonState,
  supersedesInferredEnd,
} from "./common-state.js";

/**
 * State of a task attempt, folded from its events, as stored in the row; it starts when it first
 * runs.
 */
export interface TaskState extends CommonState {
  readonly phase: TaskExecution_Phase;
  readonly phaseVersion: number;
}

/**
 * True when the event belongs to the attempt's history: all but a second end do. A reported end
 * replaces one that admin assumed.
 */
export function isPartOfHistory(state: TaskState | undefined, update: TaskUpdate): boolean {
  return (
    state === undefined || !isTerminalTaskEvent(state.phase) || !isTerminalTaskEvent(update.phase) || supersedesInferredEnd(state, update)
  );
}

/** Folds one event; with the same guarantees as foldWorkflow. */
export function foldTask(state: TaskState | undefined, update: TaskUpdate, seq: bigint): TaskState {
  if (state !== undefined && !isPartOfHistory(state, update))
    return update.phase === state.phase ? keepIdentityIfEqual(state, { ...state, ...completeOutputs(state, update) }) : state;
  const before = state ?? emptyTaskState(update);
  const isTerminal = isTerminalTaskEvent(update.phase);
  const advancesPhase = isTerminal || (!isTerminalTaskEvent(before.phase) && seq > before.phaseSeq);
  const isRunning = update.phase === TaskExecution_Phase.RUNNING;
  const marksStart = isRunning && isEarliestStart(before, seq);
  return keepIdentityIfEqual(before, {
    phase: advancesPhase ? update.phase : before.phase,
    phaseVersion: advancesPhase ? update.phaseVersion : before.phaseVersion,
    ...foldCommonState(before, update, { seq, advancesPhase, marksStart, isTerminal }),
  });
}

function emptyTaskState(update: TaskUpdate): TaskState {
  return {
    phase: TaskExecution_Phase.UNDEFINED,
    phaseVersion: 0,
    ...emptyCommonState(update),
  };
}
