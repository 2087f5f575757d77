import { systemTime } from "@flyte-ts/async";
import { createBlobStore } from "@flyte-ts/blobstore";
import { loadServiceConfig } from "@flyte-ts/config";
import { joinLeaderElection } from "@flyte-ts/kubernetes";
import { onShutdown, startIdleGc } from "@flyte-ts/lifecycle";
import { serviceNames } from "@flyte-ts/service-manifest";
import { findUnclaimedTaskTypes, receiveHeartbeats, type RunningPlugin, runPlugin } from "@flyte-ts/task-plugin";
import { startService } from "@flyte-ts/task-plugin/service";
import { createLogger, installSourceMapSupport, Metrics } from "@flyte-ts/telemetry";
import { connectorConfig } from "./config.js";
import { connectorService } from "./connector-service.js";
import { manifest } from "./manifest.js";
import { PLUGIN_NAME } from "./plugin.js";

installSourceMapSupport();
const config = loadServiceConfig(connectorConfig, manifest.id, process);
const logger = createLogger({ service: manifest.id, level: config.logLevel });
const clock = systemTime;
const metrics = new Metrics();
const { lead, maxInFlight, cluster, producerId = cluster || "propeller" } = config;
// An unreachable connector makes no replica unready: a restart would not help.
const { bus, readiness, ops } = await startService({ ...config, id: manifest.id, logger, metrics });
const store = createBlobStore(config.storage);
const findUnclaimed = (taskTypes: readonly string[]) => findUnclaimedTaskTypes({ bus, name: PLUGIN_NAME, taskTypes });
const service = connectorService({ config, store, clock, logger, metrics, findUnclaimed });
// A standby listens too, so that it knows the other plugin services at a takeover.
const heartbeats = receiveHeartbeats({
  bus,
  now: () => clock.now(),
  onHeartbeat: (heartbeat) => service.onHeartbeat(heartbeat),
});
readiness.serving();
const leader = await joinLeaderElection(lead, { ...config.kubernetes, userAgent: serviceNames(manifest).userAgent }, logger);
let running: RunningPlugin | undefined;
onShutdown(
  async () => {
    readiness.stopping();
    await heartbeats.close();
    await running?.stop();
    service.close();
    await leader.stop();
    await bus.close();
    store.close();
    await ops.close();
  },
  { logger },
);
if (config.endpoints.length === 0) logger.warn("no connector endpoint is configured: the service has nothing to do");
await leader.becameLeader;
running = await runPlugin({ plugin: service.plugin, bus, logger, clock, metrics, maxInFlight, producerId });
// Live data are few, 6 KiB a task, and calls leave much garbage.
startIdleGc({ maxHeapGrowthPercent: 60 });
