import { concurrencyOf, type ParallelismBehavior } from "../array/concurrency.js";
import type { ArrayState } from "../array/array-state.js";
import type { NodeModel, NodeTarget } from "@flyte-ts/workflow-crd";

/**
 * True when a node counts against the execution's `max parallelism`, from its queueing to its end.
 * Items count only where the array leaves their number to the execution, and then the array itself
 * does not.
 */
export function takesSlot({ model, scope }: SlotCandidate, behavior: ParallelismBehavior): boolean {
  if (scope.array !== undefined) return scope.array.concurrency.kind === "workflow" && kindTakesSlot(model.target, behavior);
  return kindTakesSlot(model.target, behavior);
}

interface SlotCandidate {
  readonly model: Pick<NodeModel, "target">;
  readonly scope: { readonly array: Pick<ArrayState, "concurrency"> | undefined };
}

function kindTakesSlot(target: NodeTarget, behavior: ParallelismBehavior): boolean {
  switch (target.kind) {
    case "array":
      // Nodes within the array's items take their own slots, which the array must not occupy.
      return concurrencyOf(target.array, behavior).kind === "own" && kindTakesSlot(target.subNode.target, behavior);
    case "task":
    case "launchPlan":
      return true;
    case "start":
    case "end":
    case "branch":
    case "subWorkflow":
    case "gate":
      return false;
  }
}

/** True when one more node may start; 0 means no limit. */
export function hasFreeSlot(maxParallelism: number, used: number): boolean {
  return maxParallelism <= 0 || used < maxParallelism;
}
