import { secretSourceSchema } from "@flyte-ts/outbound";
import { z } from "zod";

/** Launch plans that are started when something happens. */
export const triggersSchema = z
  .strictObject({
    /** Most triggers one after the other: what would be one more is refused, so that a circle ends. */
    maxDepth: z.number().int().positive().default(8),
    /** A firing that cannot be carried out is tried for so long. */
    giveUpAfterSeconds: z.number().positive().default(86_400),
    /** How long firings that are done are kept. So long a webhook's delivery is known when it comes again. */
    keepDays: z.number().positive().default(90),
    webhooks: z
      .strictObject({
        /** What the secrets of triggers are derived from, 32 bytes at least; absent: one that admin makes and keeps in its database. */
        key: secretSourceSchema.optional(),
        /** By how much a webhook's time may differ from ours. */
        toleranceSeconds: z.number().positive().default(300),
        maxBodyBytes: z
          .number()
          .int()
          .positive()
          .default(256 * 1024),
        /** Most that one trigger takes. */
        maxPerMinute: z.number().int().positive().default(600),
      })
      .prefault({}),
  })
  .prefault({});

export type TriggersConfig = z.infer<typeof triggersSchema>;
