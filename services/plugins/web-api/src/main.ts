import { systemRandom, systemTime } from "@flyte-ts/async";
import { createBlobStore } from "@flyte-ts/blobstore";
import { loadServiceConfig } from "@flyte-ts/config";
import { joinLeaderElection } from "@flyte-ts/kubernetes";
import { onShutdown, startIdleGc } from "@flyte-ts/lifecycle";
import { serviceNames } from "@flyte-ts/service-manifest";
import { type RunningPlugin, runPlugin } from "@flyte-ts/task-plugin";
import { startService } from "@flyte-ts/task-plugin/service";
import { createLogger, installSourceMapSupport, Metrics } from "@flyte-ts/telemetry";
import { webApiConfig } from "./config.js";
import { createControllers } from "./create-controllers.js";
import { jobRecords } from "./frame/job/job-record.js";
import { registerLoadMetrics, webApiMetrics } from "./frame/metrics.js";
import { manifest } from "./manifest.js";
import { webApiPlugin } from "./plugin.js";
import { routesOf } from "./routes.js";

installSourceMapSupport();
const config = loadServiceConfig(webApiConfig, manifest.id, process);
const logger = createLogger({ service: manifest.id, level: config.logLevel });
const { maxInFlight, cluster, producerId = cluster || "propeller", lead } = config;
const metrics = new Metrics();
const { bus, readiness, ops } = await startService({ ...config, id: manifest.id, logger, metrics });
const store = createBlobStore(config.storage);
readiness.serving();
const leader = await joinLeaderElection(lead, { ...config.kubernetes, userAgent: serviceNames(manifest).userAgent }, logger);
let running: RunningPlugin | undefined;
onShutdown(
  async () => {
    readiness.stopping();
    await running?.stop();
    await leader.stop();
    await bus.close();
    store.close();
    await ops.close();
  },
  { logger },
);
await leader.becameLeader;
const routes = routesOf(config);
if (routes.size === 0) {
  logger.warn("no API is configured, so that no task type is served: set batch, athena, bigquery, hive or trino");
} else {
  const records = jobRecords(store);
  const controllers = await createControllers({
    config,
    store,
    records,
    logger,
    clock: systemTime,
    random: systemRandom,
    metrics: webApiMetrics(metrics),
    env: process.env,
  });
  registerLoadMetrics(metrics, () => controllers.map(({ load }) => load));
  running = await runPlugin({
    plugin: webApiPlugin({ routes, controllers, records }),
    bus,
    logger,
    clock: systemTime,
    metrics,
    maxInFlight,
    producerId,
  });
}
startIdleGc();
