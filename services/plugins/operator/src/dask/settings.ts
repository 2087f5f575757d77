import { z } from "zod";

/** Settings of Dask jobs. */
export const daskSettings = z
  .strictObject({
    /** Command of the scheduler; `[dask-scheduler]` for distributed before 2022.10. */
    schedulerCommand: z.array(z.string()).min(1).default(["dask", "scheduler"]),
    /** Command of the workers; `[dask-worker]` for distributed before 2022.10. */
    workerCommand: z.array(z.string()).min(1).default(["dask", "worker"]),
  })
  .prefault({});

export type DaskSettings = z.infer<typeof daskSettings>;
