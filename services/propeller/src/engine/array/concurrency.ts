import type { ArrayNode } from "@flyte-ts/idl/flyteidl/core/workflow_pb";

/** What limits the items of an array that says nothing, or says 0 (Go Flyte's `default-parallelism-behavior`). */
export type ParallelismBehavior =
  /** Nothing does. */
  | "unlimited"
  /** The execution's `max parallelism`, as if each item were a node. */
  | "workflow"
  /** The execution's when the array says nothing; nothing when it says 0. */
  | "hybrid";

/** `limit` items at once and the array itself takes one place in the workflow, or each item takes one. */
export type Concurrency = { readonly kind: "own"; readonly limit: number } | { readonly kind: "workflow" };

export function concurrencyOf({ parallelismOption }: ArrayNode, behavior: ParallelismBehavior): Concurrency {
  const asked = parallelismOption.case === "parallelism" ? parallelismOption.value : undefined;
  if (asked !== undefined && asked > 0) return { kind: "own", limit: asked };
  const shared = behavior === "workflow" || (behavior === "hybrid" && asked === undefined);
  return shared ? { kind: "workflow" } : { kind: "own", limit: Number.POSITIVE_INFINITY };
}
