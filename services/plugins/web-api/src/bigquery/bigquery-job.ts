import { z } from "zod";

/** An inserted job. */
export type BigQueryJob = z.infer<typeof bigQueryJob>;

export const bigQueryJob = z.strictObject({
  project: z.string().min(1),
  /** Empty: BigQuery finds the job in the US and EU. */
  location: z.string(),
  jobId: z.string().min(1),
});
