import { z } from "zod";

const minutes = (count: number) => count * 60_000;

const rule = z.strictObject({
  /**
   * `prewarmed`: a pod serves one attempt; `reused`: one attempt after the other, of one principal.
   */
  mode: z.enum(["prewarmed", "reused"]).default("prewarmed"),
  /** Project of the execution; absent: every project. */
  project: z.string().optional(),
  /** Domain of the execution; absent: every domain. */
  domain: z.string().optional(),
  /** Task type, such as `python-task`; absent: every type that this service runs. */
  taskType: z.string().optional(),
  /** Labels that the pod has to have. */
  labels: z.record(z.string(), z.string()).default({}),
  /** Beginning of the image's name; absent: every image. */
  imagePrefix: z.string().optional(),
});

/** Pods that are started ahead of their attempts. */
export const warmPodSettings = z
  .strictObject({
    /** Start pods ahead for the tasks of `rules`, and for those whose authors ask for it. */
    enabled: z.boolean().default(false),
    /**
     * Tasks that use warm pods: the first rule that matches decides. An author's
     * `flyte.org/warm-pods` or `FLYTE_TS_WARM_PODS` takes precedence.
     */
    rules: z.array(rule).default([]),
    /** Minimum of idle pods for pods of one kind that is in use. */
    minIdle: z.int().min(0).default(1),
    /** Maximum of idle pods for pods of one kind. */
    maxIdle: z.int().min(1).default(5),
    /** Maximum of idle pods of all kinds. */
    maxIdleTotal: z.int().min(1).default(20),
    /** Time after the last start of its kind for which pods stay ready, ms. */
    keepMs: z.int().min(1_000).default(minutes(5)),
    /** Maximum age of a pod that is idle, or is to serve another attempt, ms; it is replaced. */
    maxAgeMs: z.int().min(minutes(2)).default(minutes(30)),
    /** Limits of a reused pod, beside `maxAgeMs`: after them it serves no further attempt. */
    reuse: z
      .strictObject({
        /** Maximum number of attempts. */
        maxAttempts: z.int().min(1).default(100),
        /** Maximum growth of its memory without an attempt, bytes. */
        maxGrowthBytes: z
          .int()
          .min(0)
          .default(64 * 1024 * 1024),
      })
      .prefault({}),
    /** Pause of starts ahead after other pods waited for room, ms. */
    pauseMs: z.int().min(1_000).default(minutes(1)),
    /**
     * Interpreter that starts the supervisor, as the image's PATH finds it; the supervisor changes
     * to the interpreter of the entry point.
     */
    python: z.string().min(1).default("python3"),
  })
  .prefault({});

export type WarmPodSettings = z.infer<typeof warmPodSettings>;
