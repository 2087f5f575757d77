import { systemTime, type Time } from "@flyte-ts/async";
import { type BlobStore, createBlobStore } from "@flyte-ts/blobstore";
import { blobStoreSettings, loadServiceConfig, logLevel, natsSettings, opsSettings } from "@flyte-ts/config";
import { onShutdown, startIdleGc } from "@flyte-ts/lifecycle";
import { createLogger, installSourceMapSupport, type Logger, Metrics } from "@flyte-ts/telemetry";
import { z } from "zod";
import type { Plugin } from "../plugin.js";
import { runPlugin } from "./run-plugin.js";
import { startService } from "./start-service.js";

/** Objects that a plugin service gives to its plugin. */
export interface PluginContext<Settings> {
  readonly settings: Settings;
  readonly clock: Time;
  readonly logger: Logger;
  /** Registry of the metrics that the service serves. */
  readonly metrics: Metrics;
  /** Files of attempts. Connects on the first call. */
  readonly store: BlobStore;
}

export interface ServePluginOptions<Shape extends z.ZodRawShape> {
  /**
   * Id of the service, such as `plugin-http-job`: its user of the message bus, its name in logs,
   * and the prefix of environment variables (`FLYTE_TS_PLUGIN_HTTP_JOB_`).
   */
  readonly id: string;
  /** Default port of health and metrics. */
  readonly opsPort: number;
  /** Settings of the plugin, beside those that every plugin service has. */
  readonly settings: Shape;
  readonly create: (context: PluginContext<z.infer<z.ZodObject<Shape>>>) => Plugin;
}

/** Settings that every plugin service has. */
const serviceSettings = (opsPort: number) => ({
  nats: natsSettings,
  storage: z.strictObject(blobStoreSettings).prefault({}),
  /** Maximum of unacknowledged requests per task type, over all replicas. */
  maxInFlight: z.int().min(1).default(256),
  /**
   * Name of the data plane in admin's `clusters`, the same as propeller's; empty for a single one.
   */
  cluster: z.string().default(""),
  logLevel,
  ops: opsSettings(opsPort),
});

/**
 * Runs a plugin service as the program of this process: reads its settings, connects to the message
 * bus, serves health and metrics, and stops in order on SIGTERM or SIGINT. Wrong settings end the
 * process with status 2.
 */
export async function servePlugin<Shape extends z.ZodRawShape>({
  id,
  opsPort,
  settings,
  create,
}: ServePluginOptions<Shape>): Promise<void> {
  installSourceMapSupport();
  const {
    nats,
    storage,
    maxInFlight,
    cluster,
    logLevel: level,
    ops,
    plugin: own,
  } = loadServiceConfig(
    z.strictObject({ ...serviceSettings(opsPort), plugin: z.strictObject(settings).prefault({} as never) }),
    id,
    process,
  );
  const logger = createLogger({ service: id, level });
  const metrics = new Metrics();
  const store = createBlobStore(storage);
  const { bus, readiness, ops: opsServer } = await startService({ id, nats, cluster, ops, logger, metrics });
  readiness.starting("waiting for the stream of tasks, which propeller creates");
  const plugin = create({ settings: own as z.infer<z.ZodObject<Shape>>, clock: systemTime, logger, metrics, store });
  const producerId = cluster || "propeller";
  const running = await runPlugin({ plugin, bus, logger, clock: systemTime, metrics, maxInFlight, producerId });
  readiness.serving();
  startIdleGc();
  onShutdown(
    async () => {
      readiness.stopping();
      await running.stop();
      await bus.close();
      store.close();
      await opsServer.close();
    },
    { logger },
  );
}
