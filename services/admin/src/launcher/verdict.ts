import { isAlreadyExists, KubeError } from "@flyte-ts/kubernetes";

/**
 * What an answer of the API server to a create means.
 * - `done`: the resource is there.
 * - `namespace`: there is no such namespace, or the data plane does not know the resource yet.
 * - `refused`: this resource will never be taken.
 * - `later`: nothing is said about the resource; try again.
 */
export type LaunchVerdict = "done" | "namespace" | "refused" | "later";

const REFUSALS: readonly number[] = [400, 403, 413, 422];

export function judgeRefusal(error: unknown): LaunchVerdict {
  if (isAlreadyExists(error)) return "done";
  if (!(error instanceof KubeError)) return "later";
  if (error.status === 404) return "namespace";
  // A namespace that is going away will be made again.
  if (error.status === 403 && error.message.includes("being terminated")) return "later";
  return REFUSALS.includes(error.status) ? "refused" : "later";
}
