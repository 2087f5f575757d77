import { isTerminalNodeEvent } from "@flyte-ts/domain";
import { NodeExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { ErrorFact, NodeFact, NodeTargetFact } from "./facts.js";
import { ifChanged } from "./if-changed.js";
import { NO_ORDER, TERMINAL_ORDER } from "./order.js";
import { completeOutputs, foldProgress, isFirstStart, noProgress, type Progress, replacesEnd } from "./progress.js";

/**
 * What events have told of a node so far. Of what is large (inputs, outputs, error, target,
 * dynamicWorkflow) a state that was read from the database holds nothing, and undefined
 * means there: as before.
 */
export interface NodeState extends Progress {
  readonly phase: NodeExecution_Phase;
  readonly error: ErrorFact | undefined;
  readonly deckUri: string;
  readonly target: NodeTargetFact | undefined;
  readonly targetOrder: bigint;
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
 * Adds one event; the same promise as foldWorkflow gives. An end that admin assumed gives
 * way to the one that is reported.
 */
export function foldNode(state: NodeState | undefined, fact: NodeFact, order: bigint): NodeState {
  const before = state ?? emptyNode(fact);
  const ends = isTerminalNodeEvent(fact.phase);
  const ended = isTerminalNodeEvent(before.phase);
  if (state !== undefined && ends && ended && !replacesEnd(before, fact)) return completeNode(before, fact);
  const moves = ends || (!ended && order > before.phaseOrder);
  const starts = fact.phase === NodeExecution_Phase.RUNNING && isFirstStart(before, order);
  // A child execution never changes once it is told.
  const targetOrder = fact.target?.isExecution === true ? TERMINAL_ORDER : order;
  const retargets = fact.target !== undefined && targetOrder > before.targetOrder;
  return ifChanged(before, {
    phase: moves ? fact.phase : before.phase,
    ...foldProgress(before, fact, { order, moves, starts, ends }),
    error: ends ? fact.error : before.error,
    // Propeller tells of the deck with the first start and, for good, with the end.
    deckUri: ends || (starts && !ended) ? fact.deckUri : before.deckUri,
    target: retargets ? fact.target : before.target,
    targetOrder: retargets ? targetOrder : before.targetOrder,
    cacheStatus: retargets ? fact.target?.cacheStatus : before.cacheStatus,
    dynamicJobSpecUri: before.dynamicJobSpecUri || fact.dynamicJobSpecUri,
    dynamicWorkflow: before.dynamicWorkflow ?? fact.dynamicWorkflow,
    dynamicWorkflowUri: before.dynamicWorkflowUri || fact.dynamicWorkflowUri,
    parentNodeId: before.parentNodeId ?? fact.parentNodeId,
    parentTaskKey: before.parentTaskKey ?? fact.parentTaskKey,
    retryGroup: before.retryGroup || fact.retryGroup,
    specNodeId: before.specNodeId || fact.specNodeId,
    eventVersion: Math.max(before.eventVersion, fact.eventVersion),
    isParent: before.isParent || fact.isParent,
    isDynamic: before.isDynamic || fact.isDynamic,
    isArray: before.isArray || fact.isArray,
  });
}

/** Adds to a recorded end what it lacks and a later event of the same end tells. */
function completeNode(before: NodeState, fact: NodeFact): NodeState {
  if (fact.phase !== before.phase) return before;
  const isChild = fact.target?.isExecution === true && before.targetOrder < TERMINAL_ORDER;
  const isCache = fact.target?.cacheStatus !== undefined && before.cacheStatus === undefined;
  return ifChanged(before, {
    ...before,
    ...completeOutputs(before, fact),
    ...(isChild || isCache
      ? { target: fact.target, targetOrder: isChild ? TERMINAL_ORDER : before.targetOrder, cacheStatus: fact.target?.cacheStatus }
      : {}),
    deckUri: before.deckUri || fact.deckUri,
  });
}

function emptyNode(fact: NodeFact): NodeState {
  return {
    phase: NodeExecution_Phase.UNDEFINED,
    ...noProgress(fact),
    error: undefined,
    deckUri: "",
    target: undefined,
    targetOrder: NO_ORDER,
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
