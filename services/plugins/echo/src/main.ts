import { systemTime } from "@flyte-ts/async";
import { loadServiceConfig } from "@flyte-ts/config";
import { dataPlaneScope } from "@flyte-ts/bus-contract";
import { connectBus, scopedBus } from "@flyte-ts/messaging";
import { runPlugin } from "@flyte-ts/task-plugin";
import { onShutdown, Readiness, startIdleGc, startOpsServer } from "@flyte-ts/lifecycle";
import { createLogger, installSourceMapSupport, Metrics } from "@flyte-ts/telemetry";
import { echoConfig } from "./config.js";
import { manifest } from "./manifest.js";
import { echoPlugin } from "./plugin.js";

installSourceMapSupport();
const config = loadServiceConfig(echoConfig, manifest.id, process);
const logger = createLogger({ service: manifest.id, level: config.logLevel });
const clock = systemTime;
const metrics = new Metrics();
const connection = await connectBus({ url: config.nats.url, name: manifest.id, logger, metrics, createsStreams: false });
const bus = scopedBus(connection, dataPlaneScope(config.cluster));
const running = await runPlugin({
  plugin: echoPlugin({ clock, logger, echoDelayMs: config.echoDelayMs }),
  bus,
  logger,
  clock,
  metrics,
  maxInFlight: config.maxInFlight,
  producerId: config.producerId ?? (config.cluster || "propeller"),
});
const readiness = new Readiness({ now: () => performance.now(), checks: { bus: () => bus.unhealthyReason() } });
const ops = await startOpsServer({ ...config.ops, metrics, readiness });
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
