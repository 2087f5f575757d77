import { logLevel, natsSettings, opsSettings } from "@flyte-ts/config";
import { z } from "zod";

export const echoConfig = z.strictObject({
  nats: natsSettings,
  /** How long an echo task takes, ms. */
  echoDelayMs: z.int().min(0).default(0),
  /** Requests per task type in hand at once. */
  maxInFlight: z.int().min(1).default(1_000),
  /** Name of the data plane in admin's `clusters`, as propeller has it; empty where there is but one. */
  cluster: z.string().default(""),
  /** Name of the data plane in events. Default: `cluster`, or `propeller` where that is empty. */
  producerId: z.string().optional(),
  logLevel,
  ops: opsSettings(10_261),
});
