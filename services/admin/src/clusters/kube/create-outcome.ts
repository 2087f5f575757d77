import { isAlreadyExists, KubeError } from "@flyte-ts/kubernetes";

/**
 * Meaning of the API server's response to a create request.
 * - `exists`: the resource exists.
 * - `namespace-missing`: the namespace does not exist, or the data plane does not know the resource
 *   type yet.
 * - `rejected`: this resource is permanently rejected.
 * - `retry`: retryable.
 */
export type CreateOutcome = "exists" | "namespace-missing" | "rejected" | "retry";

const REJECTION_STATUSES: readonly number[] = [400, 403, 413, 422];

export function classifyCreateError(error: unknown): CreateOutcome {
  if (isAlreadyExists(error)) return "exists";
  if (!(error instanceof KubeError)) return "retry";
  if (error.status === 404) return "namespace-missing";
  // A namespace in deletion will be created again.
  if (error.status === 403 && error.message.includes("being terminated")) return "retry";
  return REJECTION_STATUSES.includes(error.status) ? "rejected" : "retry";
}
