import { isAlreadyExists, KubeError } from "@flyte-ts/kubernetes";

/**
 * Meaning of the API server's response to a create request.
 * - `done`: the resource exists.
 * - `namespace`: the namespace does not exist, or the data plane does not know the resource type yet.
 * - `refused`: this resource is permanently rejected.
 * - `later`: retryable.
 */
export type CreateOutcome = "done" | "namespace" | "refused" | "later";

const REJECTION_STATUSES: readonly number[] = [400, 403, 413, 422];

export function classifyCreateError(error: unknown): CreateOutcome {
  if (isAlreadyExists(error)) return "done";
  if (!(error instanceof KubeError)) return "later";
  if (error.status === 404) return "namespace";
  // A namespace in deletion will be created again.
  if (error.status === 403 && error.message.includes("being terminated")) return "later";
  return REJECTION_STATUSES.includes(error.status) ? "refused" : "later";
}
