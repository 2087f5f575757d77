import { systemTime } from "@flyte-ts/async";
import { serviceConfig } from "@flyte-ts/config";
import { dataPlaneScope } from "@flyte-ts/domain";
import { connectBus, scopedBus } from "@flyte-ts/messaging";
import { runPlugin } from "@flyte-ts/task-plugin";
import { createLogger, mapStacks, Metrics, onShutdown, Readiness, returnMemory, startOpsServer } from "@flyte-ts/telemetry";
import { echoConfig } from "./config.js";
import { echoPlugin } from "./plugin.js";

mapStacks();
const config = serviceConfig(echoConfig, "plugin-echo", process);
const logger = createLogger({ service: "plugin-echo", level: config.logLevel });
const clock = systemTime;
const metrics = new Metrics();
const connection = await connectBus({ url: config.nats.url, name: "plugin-echo", logger, metrics, makesStreams: false });
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
const readiness = new Readiness({ now: () => performance.now(), checks: { bus: () => bus.problem() } });
const ops = await startOpsServer({ ...config.ops, metrics, readiness });
readiness.serving();

returnMemory();
onShutdown(
  async () => {
    readiness.stopping();
    await running.stop();
    await bus.close();
    await ops.close();
  },
  { logger },
);
