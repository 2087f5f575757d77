import { z } from "zod";

export const retentionSchema = z.strictObject({
  /** How long executions are kept where no policy says otherwise, days; 0: for ever. */
  keepDays: z.number().min(0).default(0),
  /** How long entries of the audit log are kept, days; 0: for ever. */
  auditLogDays: z.number().min(0).default(400),
  /** How often policies are applied, seconds. */
  sweepSeconds: z.number().positive().default(600),
  /** Time between the mark and the deletion, seconds: who saw the execution without a mark has committed by then. */
  graceSeconds: z.number().min(0).default(60),
  /** Most blobs that one process deletes a second. */
  blobsPerSecond: z.number().positive().default(500),
  /** Executions that one process deletes at once. */
  concurrency: z.number().int().positive().default(4),
});

export type RetentionConfig = z.infer<typeof retentionSchema>;
