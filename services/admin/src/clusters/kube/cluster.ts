import { isAlreadyExists, type KubeApplier, type KubeClient, NAMESPACES } from "@flyte-ts/kubernetes";
import { classifyCreateError } from "./create-outcome.js";
import { clusterUnavailable } from "./launch-error.js";

/** A data plane that runs executions. */
export interface Cluster {
  readonly name: string;
  /** Weight among new executions, relative to the other clusters'. */
  readonly weight: number;
  /** False: it gets no new executions. Default true. */
  readonly enabled?: boolean;
  /** Cluster pools of which it is a member. Default none. */
  readonly pools?: readonly string[];
  readonly kube: KubeClient & KubeApplier;
}

/** Verbs of the Kubernetes API that launching needs. */
export type LaunchKube = Pick<KubeClient, "create" | "delete" | "get">;

export async function ensureNamespace(kube: Pick<LaunchKube, "create">, name: string): Promise<void> {
  try {
    await kube.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  } catch (error) {
    // Forbidden: another component creates the namespaces here. A missing one fails the creation of the resource.
    if (isAlreadyExists(error) || classifyCreateError(error) === "rejected") return;
    // The namespace precedes the resource, so the resource does not exist.
    throw clusterUnavailable(error, true);
  }
}

/**
 * Finds the data plane of an execution: by name, or the only one. A data plane without a configured name matches any
 * name, which its engine may have reported.
 */
export function findCluster(clusters: readonly Cluster[], name: string): Cluster | undefined {
  const [only] = clusters;
  return clusters.find((cluster) => cluster.name === name) ?? (name === "" || only?.name === "" ? only : undefined);
}
