import { createBlobStore } from "@flyte-ts/blobstore";
import { loadConfig } from "@flyte-ts/config";
import { createKubeClient } from "@flyte-ts/kubernetes";
import { connectBus } from "@flyte-ts/messaging";
import { runPlugin, systemClock } from "@flyte-ts/task-plugin";
import { createLogger, Metrics, onShutdown, returnMemory, startOpsServer } from "@flyte-ts/telemetry";
import { podServiceConfig } from "./config.js";
import { podPlugin } from "./plugin.js";
import { PodAttempts } from "./pods/pod-attempts.js";

const config = loadConfig(podServiceConfig, { service: "plugin-pod", argv: process.argv.slice(2), env: process.env });
const logger = createLogger({ service: "plugin-pod", level: config.logLevel });
const clock = systemClock();
const metrics = new Metrics();
const bus = await connectBus({ url: config.nats.url, name: "plugin-pod", logger });
const client = await createKubeClient(config.kubernetes);
const store = createBlobStore(config.storage);
const { graces, limits, logLinks, defaultPodTemplate, templateNamespace, stopSeconds, stopTimeoutMs, workers, tellEndsOfMs } = config;
const attempts = new PodAttempts({
  client,
  store,
  clock,
  logger,
  config: config.pods,
  graces,
  limits,
  logLinks,
  defaultPodTemplate,
  templateNamespace,
  stopSeconds,
  stopTimeoutMs,
  workers,
  tellEndsOfMs,
});
const { maxInFlight, producerId } = config;
const running = await runPlugin({ plugin: podPlugin(attempts, config.taskTypes), bus, logger, clock, metrics, maxInFlight, producerId });
const ops = await startOpsServer({ ...config.ops, metrics, notReady: () => bus.problem() ?? attempts.problem() });

returnMemory();
onShutdown(
  async () => {
    await running.stop();
    await bus.close();
    await client.close();
    store.close();
    await ops.close();
  },
  { logger },
);
