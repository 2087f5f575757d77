import { secretSourceSchema } from "@flyte-ts/outbound";
import { z } from "zod";

/** Triggers, which start launch plans on events. */
export const triggersSchema = z
  .strictObject({
    /** Maximum length of a chain of triggers, which ends cycles: further firings are rejected. */
    maxDepth: z.number().int().positive().default(8),
    /** Time after which a failing firing is not retried any more, seconds. */
    giveUpAfterSeconds: z.number().positive().default(86_400),
    /**
     * Retention of completed firings, days; also the time for which repeated webhook deliveries are
     * recognized.
     */
    keepDays: z.number().positive().default(90),
    webhooks: z
      .strictObject({
        /**
         * Key from which the secrets of triggers are derived, at least 32 bytes; default: admin
         * generates one and stores it in its database.
         */
        key: secretSourceSchema.optional(),
        /** Maximum difference between a webhook's timestamp and admin's clock, seconds. */
        toleranceSeconds: z.number().positive().default(300),
        /** Maximum size of a webhook's body, bytes; larger ones are rejected. */
        maxBodyBytes: z
          .number()
          .int()
          .positive()
          .default(256 * 1024),
        /** Maximum of deliveries per trigger and minute. */
        maxPerMinute: z.number().int().positive().default(600),
      })
      .prefault({}),
  })
  .prefault({});

export type TriggersConfig = z.infer<typeof triggersSchema>;
