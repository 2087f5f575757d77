import type { ArrayNode } from "@flyte-ts/idl/flyteidl/core/workflow_pb";

/**
 * Limit for the items of an array whose own limit is missing or 0 (Go Flyte's
 * `default-parallelism-behavior`).
 */
export type ParallelismBehavior =
  /** No limit. */
  | "unlimited"
  /** The execution's `max parallelism`, each item counting as a node. */
  | "workflow"
  /** The execution's limit when the array sets none; no limit when it sets 0. */
  | "hybrid";

/**
 * Either `limit` concurrent items and one slot of the workflow for the array, or one slot per item.
 */
export type Concurrency = { readonly kind: "own"; readonly limit: number } | { readonly kind: "workflow" };

export function concurrencyOf({ parallelismOption }: ArrayNode, behavior: ParallelismBehavior): Concurrency {
  const pending = parallelismOption.case === "parallelism" ? parallelismOption.value : undefined;
  if (pending !== undefined && pending > 0) return { kind: "own", limit: pending };
  const shared = behavior === "workflow" || (behavior === "hybrid" && pending === undefined);
  return shared ? { kind: "workflow" } : { kind: "own", limit: Number.POSITIVE_INFINITY };
}
