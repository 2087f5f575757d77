import { z } from "zod";

export interface FrameDefaults {
  readonly readsPerSecond: number;
  readonly writesPerSecond: number;
  readonly burst: number;
  readonly initialMs: number;
  readonly maxMs: number;
}

/** Settings that every API has: how often it is called and how many jobs it runs. */
export const frameSettings = ({ readsPerSecond, writesPerSecond, burst, initialMs, maxMs }: FrameDefaults) => ({
  /** Rates of calls of the API. Calls beyond them wait. */
  rates: z
    .strictObject({
      /** Calls per second that read states. */
      readsPerSecond: z.number().positive().default(readsPerSecond),
      /** Calls that may read at once after a pause. */
      readBurst: z.int().min(1).default(burst),
      /** Calls per second that create or stop jobs. */
      writesPerSecond: z.number().positive().default(writesPerSecond),
      /** Calls that may create or stop at once after a pause. */
      writeBurst: z.int().min(1).default(burst),
    })
    .prefault({}),
  /** When the state of a job is read: after a tenth of its age, within these bounds. */
  poll: z
    .strictObject({
      /** Shortest interval, ms. */
      initialMs: z.int().min(100).default(initialMs),
      /** Longest interval, ms. */
      maxMs: z.int().min(100).default(maxMs),
    })
    .prefault({}),
  /** Jobs at a time; attempts beyond a limit are WAITING_FOR_RESOURCES and say so. */
  limits: z
    .strictObject({
      /** Jobs of all projects. */
      maxJobs: z.int().min(1).max(100_000).default(10_000),
      /** Jobs of a project; 0: no limit. */
      maxJobsPerProject: z.int().min(0).default(0),
      /** Jobs of a namespace; 0: no limit. */
      maxJobsPerNamespace: z.int().min(0).default(0),
    })
    .prefault({}),
});
