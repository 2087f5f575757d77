import { isTerminalNodeEvent } from "@flyte-ts/domain/phase";
import { NodeExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { ErrorColumns, NodeUpdate, NodeTarget } from "../event/updates.js";
import { keepIdentityIfEqual } from "./keep-identity.js";
import { NO_SEQ, TERMINAL_SEQ } from "../event/event-seq.js";
import {
  completeOutputs,
  foldCommonState,
  isEarliestStart,
  emptyCommonState,
  type CommonState,
  supersedesInferredEnd,
} from "./common-state.js";

/**
 * State of a node, folded from its events. States read from the database omit large values (inputs,
 * outputs, error, target, dynamicWorkflow); undefined then means unchanged.
 */
export interface NodeState extends CommonState {
  readonly phase: NodeExecution_Phase;
  readonly error: ErrorColumns | undefined;
  readonly deckUri: string;
  readonly target: NodeTarget | undefined;
  readonly targetSeq: bigint;
  readonly cacheStatus: string | undefined;
  readonly dynamicJobSpecUri: string;
  readonly dynamicWorkflow: Uint8Array | undefined;
  readonly dynamicWorkflowUri: string;
  readonly parentNodeId: string | undefined;
  readonly parentTaskKey: string | undefined;
  readonly retryGroup: string;
  readonly specNodeId: string;
  readonly eventVersion: number;
  readonly isParent: boolean;
  readonly isDynamic: boolean;
  readonly isArray: boolean;
}

/**
 * Folds one event; with the same guarantees as foldWorkflow. A reported end replaces one that admin
 * assumed.
 */
export function foldNode(state: NodeState | undefined, update: NodeUpdate, seq: bigint): NodeState {
  const before = state ?? emptyNodeState(update);
  const isTerminal = isTerminalNodeEvent(update.phase);
  const wasTerminal = isTerminalNodeEvent(before.phase);
  if (state !== undefined && isTerminal && wasTerminal && !supersedesInferredEnd(before, update)) return completeNodeEnd(before, update);
  const advancesPhase = isTerminal || (!wasTerminal && seq > before.phaseSeq);
  const marksStart = update.phase === NodeExecution_Phase.RUNNING && isEarliestStart(before, seq);
  // A child execution never changes once it is reported.
  const targetSeq = update.target?.isExecution === true ? TERMINAL_SEQ : seq;
  const setsTarget = update.target !== undefined && targetSeq > before.targetSeq;
  return keepIdentityIfEqual(before, {
    phase: advancesPhase ? update.phase : before.phase,
    ...foldCommonState(before, update, { seq, advancesPhase, marksStart, isTerminal }),
    error: isTerminal ? update.error : before.error,
    // Propeller reports the deck with the first start and, finally, with the end.
    deckUri: isTerminal || (marksStart && !wasTerminal) ? update.deckUri : before.deckUri,
    target: setsTarget ? update.target : before.target,
    targetSeq: setsTarget ? targetSeq : before.targetSeq,
    cacheStatus: setsTarget ? update.target?.cacheStatus : before.cacheStatus,
    dynamicJobSpecUri: before.dynamicJobSpecUri || update.dynamicJobSpecUri,
    dynamicWorkflow: before.dynamicWorkflow ?? update.dynamicWorkflow,
    dynamicWorkflowUri: before.dynamicWorkflowUri || update.dynamicWorkflowUri,
    parentNodeId: before.parentNodeId ?? update.parentNodeId,
    parentTaskKey: before.parentTaskKey ?? update.parentTaskKey,
    retryGroup: before.retryGroup || update.retryGroup,
    specNodeId: before.specNodeId || update.specNodeId,
    eventVersion: Math.max(before.eventVersion, update.eventVersion),
    isParent: before.isParent || update.isParent,
    isDynamic: before.isDynamic || update.isDynamic,
    isArray: before.isArray || update.isArray,
  });
}

/** Adds to a recorded end the facts that only a later event of the same end has. */
function completeNodeEnd(before: NodeState, update: NodeUpdate): NodeState {
  if (update.phase !== before.phase) return before;
  const isChild = update.target?.isExecution === true && before.targetSeq < TERMINAL_SEQ;
  const isCache = update.target?.cacheStatus !== undefined && before.cacheStatus === undefined;
  return keepIdentityIfEqual(before, {
    ...before,
    ...completeOutputs(before, update),
    ...(isChild || isCache
      ? { target: update.target, targetSeq: isChild ? TERMINAL_SEQ : before.targetSeq, cacheStatus: update.target?.cacheStatus }
      : {}),
    deckUri: before.deckUri || update.deckUri,
  });
}

function emptyNodeState(update: NodeUpdate): NodeState {
  return {
    phase: NodeExecution_Phase.UNDEFINED,
    ...emptyCommonState(update),
    error: undefined,
    deckUri: "",
    target: undefined,
    targetSeq: NO_SEQ,
    cacheStatus: undefined,
    dynamicJobSpecUri: "",
    dynamicWorkflow: undefined,
    dynamicWorkflowUri: "",
    parentNodeId: undefined,
    parentTaskKey: undefined,
    retryGroup: "",
    specNodeId: "",
    eventVersion: 0,
    isParent: false,
    isDynamic: false,
    isArray: false,
  };
}
