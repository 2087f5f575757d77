import { z } from "zod";
import type { EventsConfig } from "../events/index.js";

const settings = z.strictObject({
  abort: z
    .strictObject({
      /**
       * Time after which an aborting execution becomes ABORTED without the engine's confirmation,
       * seconds.
       */
      deadlineSeconds: z.number().positive().default(120),
    })
    .prefault({}),
  /** Reconciliation of rows with the resources in data planes, since events may be lost. */
  repair: z
    .strictObject({
      /**
       * Time without events after which an execution is reconciled with its resource, and interval
       * of further checks, seconds. For the same time after an execution's end, terminal events of
       * its nodes and attempts may still arrive.
       */
      quietSeconds: z.number().positive().default(60),
      /** Interval between searches for executions to reconcile, seconds. */
      everySeconds: z.number().positive().default(15),
    })
    .prefault({}),
});

export const dispatchSettings = settings.shape;
export type DispatchConfig = EventsConfig & z.infer<typeof settings>;
