import { checkKubernetesAccess, kubernetesAccess } from "@flyte-ts/config";
import { z } from "zod";

const cluster = z
  .strictObject({
    name: z.string().min(1),
    ...kubernetesAccess,
    /** Share of new executions, relative to the weights of the others; 0: only what a label or a pool sends there. */
    weight: z.number().min(0).default(1),
    /** False: it gets no new executions; those that it has go on. */
    enabled: z.boolean().default(true),
    /** Cluster pools that it belongs to. */
    pools: z.array(z.string().min(1)).default([]),
  })
  .superRefine(checkKubernetesAccess);

/** The data planes that executions may be sent to. */
export const clustersSchema = z
  .array(cluster)
  .superRefine((clusters, report) => {
    for (const [index, { name }] of clusters.entries()) {
      if (clusters.findIndex((other) => other.name === name) === index) continue;
      report.addIssue({ code: "custom", path: [index, "name"], message: `there is another cluster of the name ${name}` });
    }
  })
  .default([]);

/** Which executions go where; names as Flyte has them under `clusters` and `clusterPools`. */
export const placementSchema = z.strictObject({
  /** Clusters for the executions of a label, with their shares among these; where all shares are 0 they are equal. */
  labelClusterMap: z
    .record(z.string(), z.array(z.strictObject({ id: z.string().min(1), weight: z.number().min(0).default(0) })).min(1))
    .default({}),
  /** For executions without a label, or with one that is not in the map. */
  defaultExecutionLabel: z.string().default(""),
  /** The pool of a domain's executions, where no attribute of the project says otherwise. */
  clusterPoolAssignments: z.record(z.string(), z.strictObject({ pool: z.string().min(1) })).default({}),
});

/** When a cluster counts as down, and as back. */
export const clusterHealthSchema = z.strictObject({
  /** How often its API is asked while it answers, ms. While it does not, every second. */
  intervalMs: z.number().int().min(10).default(5_000),
  /** It has so long for its answer, ms. */
  timeoutMs: z.number().int().min(10).default(3_000),
  /** After so many failures in a row it gets no new work. */
  failures: z.number().int().min(1).default(3),
  /** After so many answers in a row it gets work again. */
  successes: z.number().int().min(1).default(2),
});

export type PlacementConfig = z.infer<typeof placementSchema>;
export type ClusterHealthConfig = z.infer<typeof clusterHealthSchema>;
