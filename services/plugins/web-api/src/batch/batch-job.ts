import { z } from "zod";

/** A submitted job. */
export type BatchJob = z.infer<typeof batchJob>;

export const batchJob = z.strictObject({
  jobId: z.string().min(1),
  /** Number of children; 1: not an array. */
  size: z.int().min(1),
  /** True for `container_array`: outputs are lists with one value of each index. */
  isArray: z.boolean(),
  /** Number of children that must succeed. */
  minSuccesses: z.int().min(0),
});
