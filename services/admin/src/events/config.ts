import { z } from "zod";
import type { ExecutionsConfig } from "../executions/index.js";

const settings = z.strictObject({
  /**
   * Executions that run in a data plane without a row, for example after a restore of an older
   * database backup.
   */
  orphans: z
    .strictObject({
      /** `abort`: orphans are stopped after some minutes. `keep`: they continue unseen. */
      action: z.enum(["abort", "keep"]).default("abort"),
    })
    .prefault({}),
});

export const eventsSettings = settings.shape;
export type EventsConfig = ExecutionsConfig & z.infer<typeof settings>;
