import type { ArrayState } from "../array/array-state.js";
import type { RuntimeNode } from "../graph/runtime.js";
import { incrementalReadiness, type ReadinessTracking } from "./readiness.js";

/** Decisions of the engine that a caller may replace. The product uses `defaultPolicy`. */
export interface EnginePolicy {
  /** Finds the nodes that an ended node makes ready. */
  readonly readiness: ReadinessTracking;
  /**
   * Returns true when an earlier process may have started nodes of a workflow whose stored phase is
   * Ready.
   */
  priorStartPossible(isNew: boolean): boolean;
  /** Returns true when dependents of this node may have started without a stored status. */
  mayHaveSpeculativeDependents(node: RuntimeNode): boolean;
  /**
   * Returns true when a child execution, whose creation was requested without response, is created
   * before it is terminated.
   */
  confirmsChildBeforeAbort(node: RuntimeNode): boolean;
  /** Returns how many more items an array may start while `active` items run. */
  itemCapacity(array: ArrayState, active: number): number;
  /**
   * Returns true when the node's outputs stay in the status until admin has recorded the
   * execution's end.
   */
  keepsOutputsUntilRecorded(node: RuntimeNode): boolean;
  /**
   * Returns true when the statuses below an ended node stay in the status until admin has recorded
   * the execution's end.
   */
  keepsChildStatusesUntilRecorded(node: RuntimeNode): boolean;
  /** Returns true when an item takes its inputs from those of its array. */
  bindsItemFromArray(item: RuntimeNode): boolean;
}

export const defaultPolicy: EnginePolicy = {
  readiness: incrementalReadiness,
  priorStartPossible: (isNew) => !isNew,
  mayHaveSpeculativeDependents: () => true,
  confirmsChildBeforeAbort: () => true,
  itemCapacity: (array, active) => array.capacity(active),
  keepsOutputsUntilRecorded: isRecordedInAdmin,
  keepsChildStatusesUntilRecorded: () => true,
  bindsItemFromArray: () => true,
};

/** Returns true when admin records the node's outputs as its own. */
function isRecordedInAdmin(node: RuntimeNode): boolean {
  const { kind } = node.model.target;
  return kind !== "start" && kind !== "end" && node.scope.array?.reportsItemsAs !== "items";
}
