import { checkKubernetesSettings, kubernetesSettings } from "@flyte-ts/config";
import { z } from "zod";

const cluster = z
  .strictObject({
    /**
     * Name of the data plane, unique; propeller and the plugin services there have it as `cluster`.
     */
    name: z.string().min(1),
    ...kubernetesSettings,
    /**
     * Share of new executions, relative to the weights of the others; 0: only executions with a
     * matching label or pool.
     */
    weight: z.number().min(0).default(1),
    /** False: the cluster gets no new executions; its running ones continue. */
    enabled: z.boolean().default(true),
    /** Cluster pools of which it is a member. */
    pools: z.array(z.string().min(1)).default([]),
  })
  .superRefine(checkKubernetesSettings);

/** Data planes that run executions. */
export const clustersSchema = z
  .array(cluster)
  .superRefine((clusters, report) => {
    for (const [index, { name }] of clusters.entries()) {
      if (clusters.findIndex((other) => other.name === name) === index) continue;
      report.addIssue({ code: "custom", path: [index, "name"], message: `there are two clusters with the name ${name}` });
    }
  })
  .default([]);

/** Placement of executions; names as in Flyte's `clusters` and `clusterPools`. */
export const placementSchema = z.strictObject({
  /**
   * Clusters by execution label, with their relative weights; when all weights are 0 they are
   * equal.
   */
  labelClusterMap: z
    .record(
      z.string(),
      z
        .array(
          z.strictObject({
            /** Name of a cluster in `clusters`. */
            id: z.string().min(1),
            /** Share of the label's executions, relative to the weights of its other clusters. */
            weight: z.number().min(0).default(0),
          }),
        )
        .min(1),
    )
    .default({}),
  /** Label of executions without one, or with one that is not in the map. */
  defaultExecutionLabel: z.string().default(""),
  /** Pool of a domain's executions, unless an attribute of the project sets another. */
  clusterPoolAssignments: z
    .record(
      z.string(),
      z.strictObject({
        /** Cluster pool, one of `clusters[].pools`. */
        pool: z.string().min(1),
      }),
    )
    .default({}),
});

/** Limits of the circuit breaker of a cluster. */
export const clusterHealthSchema = z.strictObject({
  /** Probe interval, ms, while the API responds; 1 s while it does not. */
  intervalMs: z.number().int().min(10).default(5_000),
  /** Probe timeout, ms. */
  timeoutMs: z.number().int().min(10).default(3_000),
  /** Number of consecutive failures after which it gets no new work. */
  failures: z.number().int().min(1).default(3),
  /** Number of consecutive successes after which it gets work again. */
  successes: z.number().int().min(1).default(2),
});

export type PlacementConfig = z.infer<typeof placementSchema>;
export type ClusterHealthConfig = z.infer<typeof clusterHealthSchema>;
