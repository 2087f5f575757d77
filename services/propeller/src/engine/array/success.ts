import type { ArrayNode } from "@flyte-ts/idl/flyteidl/core/workflow_pb";

export interface ItemCounts {
  readonly size: number;
  readonly succeeded: number;
  readonly failed: number;
}

/** Number of items that must succeed; all by default. */
export function requiredSuccesses({ successCriteria: criteria }: ArrayNode, size: number): number {
  switch (criteria.case) {
    case "minSuccesses":
      return criteria.value;
    case "minSuccessRatio":
      return Math.ceil(Math.fround(criteria.value) * size);
    case undefined:
      return size;
  }
}

/** An array fails as soon as success is impossible; it succeeds only when all items have ended. */
export function decideArray({ size, succeeded, failed }: ItemCounts, required: number): "run" | "fail" | "succeed" {
  if (size - failed < required) return "fail";
  return succeeded + failed === size ? "succeed" : "run";
}
