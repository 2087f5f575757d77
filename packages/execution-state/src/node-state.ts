import { isTerminalNodeEvent } from "@flyte-ts/domain";
import { NodeExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { ErrorFact, NodeFact, NodeTargetFact } from "./facts.js";
import { ifChanged } from "./if-changed.js";
import { NO_ORDER, TERMINAL_ORDER } from "./order.js";
import { completeOutputs, foldProgress, isFirstStart, noProgress, type Progress, replacesEnd } from "./progress.js";

/**
 * State of a node, folded from its events. States read from the database omit large values (inputs, outputs, error,
 * target, dynamicWorkflow); undefined then means unchanged.
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

/** Folds one event; with the same guarantees as foldWorkflow. A reported end replaces one that admin assumed. */
export function foldNode(state: NodeState | undefined, fact: NodeFact, order: bigint): NodeState {
  const before = state ?? emptyNode(fact);
  const ends = isTerminalNodeEvent(fact.phase);
  const ended = isTerminalNodeEvent(before.phase);
  if (state !== undefined && ends && ended && !replacesEnd(before, fact)) return completeNode(before, fact);
  const moves = ends || (!ended && order > before.phaseOrder);
  const starts = fact.phase === NodeExecution_Phase.RUNNING && isFirstStart(before, order);
  // A child execution never changes once it is reported.
  const targetOrder = fact.target?.isExecution === true ? TERMINAL_ORDER : order;
  const retargets = fact.target !== undefined && targetOrder > before.targetOrder;
  return ifChanged(before, {
    phase: moves ? fact.phase : before.phase,
    ...foldProgress(before, fact, { order, moves, starts, ends }),
    error: ends ? fact.error : before.error,
    // Propeller reports the deck with the first start and, finally, with the end.
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

/** Adds to a recorded end the facts that only a later event of the same end has. */
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
