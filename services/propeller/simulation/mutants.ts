import type { RuntimeNode, Scope } from "../src/engine/graph/runtime.js";
import { defaultPolicy, type EnginePolicy } from "../src/engine/state/engine-policy.js";
import type { ReadinessTracking } from "../src/engine/state/readiness.js";
import { type ReconcileQueue, resyncScope } from "../src/engine/state/resync.js";

/** Mistakes of the engine that an invariant must detect, each as one replaced decision. */
const ENGINE_MUTANTS = {
  forgetsFollowers: { mayHaveSpeculativeDependents: () => false },
  forgetsStarts: { priorStartPossible: () => false },
  forgetsChildren: { confirmsChildBeforeAbort: () => false },
  crowdsArrays: { itemCapacity: (array, active) => array.capacity(active) + 1 },
  forgetsOutputs: { keepsOutputsUntilRecorded: () => false },
  forgetsBelow: { keepsChildStatusesUntilRecorded: () => false },
  forgetsItems: { bindsItemFromArray: () => false },
} satisfies Readonly<Record<string, Partial<EnginePolicy>>>;

export type EngineBug = keyof typeof ENGINE_MUTANTS;

export function isEngineBug(bug: string | undefined): bug is EngineBug {
  return bug !== undefined && bug in ENGINE_MUTANTS;
}

/**
 * Finds ready nodes by a scan of the whole graph after each end: an independent check of the
 * counters.
 */
class RescanningReadiness implements ReadinessTracking {
  #isDue = false;

  onNodeEnded(_queue: ReconcileQueue, _node: RuntimeNode): void {
    this.#isDue = true;
  }

  beforeDequeue(queue: ReconcileQueue, root: Scope): void {
    if (!this.#isDue) return;
    this.#isDue = false;
    resyncScope(queue, root);
  }
}

/** Returns the product's policy with a mutant, or with full scans instead of counters. */
export function simulatedPolicy({ bug, fullScans }: { readonly bug: string | undefined; readonly fullScans: boolean }): EnginePolicy {
  return {
    ...defaultPolicy,
    ...(isEngineBug(bug) ? ENGINE_MUTANTS[bug] : {}),
    ...(fullScans ? { readiness: new RescanningReadiness() } : {}),
  };
}
