import { isAlreadyExists, KubeError } from "@flyte-ts/kubernetes";

/**
 * Meaning of the API server's response to a create request.
 * - `done`: the resource exists.
 * - `namespace`: the namespace does not exist, or the data plane does not know the resource type yet.
 * - `refused`: this resource is permanently rejected.
 * - `later`: retryable.
 */
export type LaunchVerdict = "done" | "namespace" | "refused" | "later";

const REFUSALS: readonly number[] = [400, 403, 413, 422];

export function judgeRefusal(error: unknown): LaunchVerdict {
  if (isAlreadyExists(error)) return "done";
  if (!(error instanceof KubeError)) return "later";
  if (error.status === 404) return "namespace";
  // A namespace in deletion will be created again.
  if (error.status === 403 && error.message.includes("being terminated")) return "later";
  return REFUSALS.includes(error.status) ? "refused" : "later";
}
