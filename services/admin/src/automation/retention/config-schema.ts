import { z } from "zod";

export const retentionSchema = z.strictObject({
  /** Retention of executions without a policy, days; 0: unlimited. */
  keepDays: z.number().min(0).default(0),
  /** Retention of audit log entries, days; 0: unlimited. */
  auditLogDays: z.number().min(0).default(400),
  /** Interval between applications of policies, seconds. */
  sweepSeconds: z.number().positive().default(600),
  /**
   * Time between the mark and the deletion, seconds, after which every transaction that did not see
   * the mark has committed.
   */
  graceSeconds: z.number().min(0).default(60),
  /** Maximum of blobs that one process deletes per second. */
  blobsPerSecond: z.number().positive().default(500),
  /** Maximum of executions that one process deletes concurrently. */
  concurrency: z.number().int().positive().default(256),
  /**
   * Identifiers of plugins whose attempts write no raw outputs: their folders are not listed. Those
   * of the echo plugin, which runs no code of users, by default.
   */
  pluginsWithoutRawOutputs: z.array(z.string().min(1)).default(["echo", "core-sleep"]),
});

export type RetentionConfig = z.infer<typeof retentionSchema>;
