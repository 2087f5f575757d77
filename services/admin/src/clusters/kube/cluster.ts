import type { KubeApplier, KubeClient } from "@flyte-ts/kubernetes";

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

/** A data plane whose resources are deleted. */
export type DeletingCluster = Pick<Cluster, "name"> & { readonly kube: Pick<LaunchKube, "get" | "delete"> };

/**
 * Finds the data plane of an execution: by name, or the only one. A data plane without a configured
 * name matches any name, which its engine may have reported.
 */
export function findCluster<One extends Pick<Cluster, "name">>(clusters: readonly One[], name: string): One | undefined {
  const [only] = clusters;
  return clusters.find((cluster) => cluster.name === name) ?? (name === "" || only?.name === "" ? only : undefined);
}
