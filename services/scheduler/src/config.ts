import { serviceAuthSchema } from "@flyte-ts/auth";
import { databaseSettings, logLevel, opsSettings } from "@flyte-ts/config";
import { z } from "zod";

/** Configuration of the scheduler. */
export const schedulerConfigSchema = z
  .strictObject({
    logLevel,
    ops: opsSettings(10259),
    database: databaseSettings({ name: "scheduler", maxConnections: 5 }),
    /** Address of admin, which holds the schedules and creates executions. */
    admin: z
      .strictObject({
        /** Address of admin's gRPC API: `host:port`, `http://host:port` or `https://host:port`. */
        endpoint: z.string().default("127.0.0.1:8089"),
        /** Timeout of one call, ms. */
        timeoutMs: z.number().int().positive().default(10_000),
        /** Credentials for admin, if it requires authentication. */
        auth: serviceAuthSchema.optional(),
      })
      .prefault({}),
    /** Interval of polls for changed schedules, ms: the maximum delay until a new one is known. */
    refreshMs: z.number().int().positive().default(2_000),
    /** Maximum of concurrent creations of executions. */
    concurrency: z.number().int().positive().default(32),
    /** Time for which only one replica may start a run, ms; afterwards others may take it over. */
    claimMs: z.number().int().min(2_000).default(15_000),
    /** Lateness from which a run counts as missed, ms: the schedule's policy then applies. */
    missedAfterMs: z.number().int().positive().default(60_000),
    catchUp: z
      .strictObject({
        /** Missed runs that one replica starts per second, over all schedules. */
        perSecond: z.number().positive().default(10),
      })
      .prefault({}),
  })
  .refine(({ claimMs, missedAfterMs }) => missedAfterMs > claimMs, {
    path: ["missedAfterMs"],
    message: "must be greater than claimMs, or a run is missed when the replica that is starting it dies",
  });

export type SchedulerConfig = z.infer<typeof schedulerConfigSchema>;
