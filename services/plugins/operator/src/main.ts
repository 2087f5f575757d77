import { systemTime } from "@flyte-ts/async";
import { createBlobStore } from "@flyte-ts/blobstore";
import { loadServiceConfig } from "@flyte-ts/config";
import { createKubeClient, joinLeaderElection } from "@flyte-ts/kubernetes";
import { addServiceVariables } from "@flyte-ts/pod-task";
import { serviceNames } from "@flyte-ts/service-manifest";
import { type RunningPlugin, runPlugin } from "@flyte-ts/task-plugin";
import { startService } from "@flyte-ts/task-plugin/service";
import { onShutdown, startIdleGc } from "@flyte-ts/lifecycle";
import { createLogger, installSourceMapSupport, Metrics } from "@flyte-ts/telemetry";
import { controllerSettings, operatorServiceConfig } from "./config.js";
import { JobController } from "./controller/job-controller.js";
import { manifest } from "./manifest.js";
import { operatorPlugin } from "./plugin.js";
import { registerJobMetrics } from "./metrics.js";

installSourceMapSupport();
const config = loadServiceConfig(operatorServiceConfig, manifest.id, process);
const logger = createLogger({ service: manifest.id, level: config.logLevel });
const clock = systemTime;
const { userAgent } = serviceNames(manifest);
const metrics = new Metrics();
let serving = false;
// A standby is ready: it has nothing to do.
const checks = { jobs: () => (serving ? controller.watch.notReadyReason() : undefined) };
const { bus, readiness, ops } = await startService({ ...config, id: manifest.id, logger, metrics, checks });
const client = await createKubeClient({ ...config.kubernetes, userAgent });
const store = createBlobStore(config.storage);
const controller = new JobController({
  client,
  store,
  clock,
  logger,
  config: { ...config.pods, environment: addServiceVariables(config.pods.environment, process.env) },
  ...controllerSettings(config),
});
registerJobMetrics(metrics, controller);
const { maxInFlight, cluster, producerId = cluster || "propeller", lead } = config;
readiness.serving();
const leader = await joinLeaderElection(lead, { ...config.kubernetes, userAgent }, logger);
let running: RunningPlugin | undefined;
onShutdown(
  async () => {
    readiness.stopping();
    await running?.stop();
    await leader.stop();
    await bus.close();
    await client.close();
    store.close();
    await ops.close();
  },
  { logger },
);
await leader.becameLeader;
running = await runPlugin({ plugin: operatorPlugin(controller), bus, logger, clock, metrics, maxInFlight, producerId });
serving = true;
startIdleGc();
