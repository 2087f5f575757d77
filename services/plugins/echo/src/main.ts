import { systemTime } from "@flyte-ts/async";
import { loadServiceConfig } from "@flyte-ts/config";
import { runPlugin } from "@flyte-ts/task-plugin";
import { startService } from "@flyte-ts/task-plugin/service";
import { onShutdown, startIdleGc } from "@flyte-ts/lifecycle";
import { createLogger, installSourceMapSupport, Metrics } from "@flyte-ts/telemetry";
import { echoConfig } from "./config.js";
import { manifest } from "./manifest.js";
import { echoPlugin } from "./plugin.js";

installSourceMapSupport();
const config = loadServiceConfig(echoConfig, manifest.id, process);
const logger = createLogger({ service: manifest.id, level: config.logLevel });
const clock = systemTime;
const metrics = new Metrics();
const { bus, readiness, ops } = await startService({ ...config, id: manifest.id, logger, metrics });
readiness.starting("waiting for the stream of tasks, which propeller creates");
const running = await runPlugin({
  plugin: echoPlugin({ clock, logger, echoDelayMs: config.echoDelayMs }),
  bus,
  logger,
  clock,
  metrics,
  maxInFlight: config.maxInFlight,
  producerId: config.producerId ?? (config.cluster || "propeller"),
});
readiness.serving();

startIdleGc();
onShutdown(
  async () => {
    readiness.stopping();
    await running.stop();
    await bus.close();
    await ops.close();
  },
  { logger },
);
