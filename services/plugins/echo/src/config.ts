import { logLevel, natsSettings, opsSettings } from "@flyte-ts/config";
import { z } from "zod";
import { manifest } from "./manifest.js";

export const echoConfig = z.strictObject({
  nats: natsSettings,
  /** Duration of an echo task, ms. */
  echoDelayMs: z.int().min(0).default(0),
  /** Maximum of unacknowledged requests per task type. */
  maxInFlight: z.int().min(1).default(1_000),
  /**
   * Name of the data plane in admin's `clusters`, the same as propeller's; empty for a single one.
   */
  cluster: z.string().default(""),
  /** Name of the data plane in events. Default: `cluster`, or `propeller` where that is empty. */
  producerId: z.string().optional(),
  logLevel,
  ops: opsSettings(manifest.opsPort),
});
