import { z } from "zod";

/** An inserted job. */
export type BigQueryJob = z.infer<typeof bigQueryJob>;

export const bigQueryJob = z.strictObject({
  project: z.string().min(1),
  /** Empty until BigQuery has placed the job by its datasets; found in the US and EU alone. */
  location: z.string(),
  jobId: z.string().min(1),
});
