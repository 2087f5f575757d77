import { serviceAuthSchema } from "@flyte-ts/auth";
import { databaseSettings, logLevel, opsSettings } from "@flyte-ts/config";
import { z } from "zod";

/** The scheduler's configuration. */
export const schedulerConfigSchema = z
  .strictObject({
    logLevel,
    ops: opsSettings(10259),
    database: databaseSettings({ name: "scheduler", maxConnections: 5 }),
    /** Who tells the schedules and takes the executions. */
    admin: z
      .strictObject({
        endpoint: z.string().default("127.0.0.1:8089"),
        timeoutMs: z.number().int().positive().default(10_000),
        /** As whom it is called, where it asks callers who they are. */
        auth: serviceAuthSchema.optional(),
      })
      .prefault({}),
    /** How often admin is asked whether schedules have changed, ms: a new one is known after this time at the latest. */
    refreshMs: z.number().int().positive().default(2_000),
    /** Executions that are being created at once. */
    concurrency: z.number().int().positive().default(32),
    /** For so long one replica alone starts a run, ms; after that others do what it has not done. */
    claimMs: z.number().int().min(2_000).default(15_000),
    /** A run that has not been started so long after its time was missed, ms: what becomes of it is the schedule's policy. */
    missedAfterMs: z.number().int().positive().default(60_000),
    catchUp: z
      .strictObject({
        /** Missed runs that one replica starts in a second, over all schedules. */
        perSecond: z.number().positive().default(10),
      })
      .prefault({}),
  })
  .refine(({ claimMs, missedAfterMs }) => missedAfterMs > claimMs, {
    path: ["missedAfterMs"],
    message: "must be more than claimMs, or a run is missed whenever a replica dies that was starting it",
  });

export type SchedulerConfig = z.infer<typeof schedulerConfigSchema>;
