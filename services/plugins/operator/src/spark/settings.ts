import { z } from "zod";

const sparkConfig = z.record(z.string(), z.string()).default({});

/** Settings of Spark applications (Go Flyte's `plugins.spark`). */
export const sparkSettings = z
  .strictObject({
    /** Spark configuration of every application (`spark-config-default`). */
    defaultConfig: sparkConfig,
    /** Address of Spark's history server; empty: no link. */
    historyServerUrl: z.string().default(""),
    /** Features: Spark settings that a task enables by name. */
    features: z
      .array(
        z.strictObject({
          /**
           * Name in the key `spark.flyteorg.NAME.enabled` or `spark.flyte.NAME.enabled` of a task.
           */
          name: z.string().min(1),
          /** Spark settings that replace the key. */
          config: sparkConfig,
        }),
      )
      .default([]),
    /** Service account of drivers and executors without one of their own. */
    serviceAccount: z.string().default("spark"),
    /**
     * Give drivers and executors volumes, init containers, sidecars and further fields of the
     * task's pod. Versions of the operator before 2.1 ignore these.
     */
    podTemplates: z.boolean().default(true),
  })
  .prefault({});

export type SparkSettings = z.infer<typeof sparkSettings>;
