import { randomUUID } from "node:crypto";
import { systemTime } from "@flyte-ts/async";
import { createBlobStore } from "@flyte-ts/blobstore";
import { dataPlaneScope, pluginHelloSubject } from "@flyte-ts/bus-contract";
import { loadServiceConfig } from "@flyte-ts/config";
import { createKubeClient, runLeaderElection } from "@flyte-ts/kubernetes";
import { onShutdown, Readiness, startIdleGc, startOpsServer } from "@flyte-ts/lifecycle";
import { connectBus, scopedBus } from "@flyte-ts/messaging";
import { serviceNames } from "@flyte-ts/service-manifest";
import { decodeHeartbeat, type RunningPlugin, runPlugin } from "@flyte-ts/task-plugin";
import { createLogger, installSourceMapSupport, Metrics } from "@flyte-ts/telemetry";
import { connectorConfig } from "./config.js";
import { connectorService } from "./connector-service.js";
import { manifest } from "./manifest.js";

installSourceMapSupport();
const config = loadServiceConfig(connectorConfig, manifest.id, process);
const logger = createLogger({ service: manifest.id, level: config.logLevel });
const clock = systemTime;
const metrics = new Metrics();
const { lead, maxInFlight, cluster, producerId = cluster || "propeller" } = config;
const connection = await connectBus({ url: config.nats.url, name: manifest.id, logger, metrics, createsStreams: false });
const bus = scopedBus(connection, dataPlaneScope(cluster));
const store = createBlobStore(config.storage);
const service = connectorService({ config, store, clock, logger, metrics });
// A standby listens too, so that it knows the other plugin services at a takeover.
const heartbeats = bus.subscribeEphemeral(pluginHelloSubject, (_, data) => {
  const heartbeat = decodeHeartbeat(data);
  if (heartbeat !== undefined) service.onHeartbeat(heartbeat);
});
// Connectors that are away make no replica unready: a restart would not bring them back.
const readiness = new Readiness({ now: () => performance.now(), checks: { bus: () => bus.unhealthyReason() } });
const ops = await startOpsServer({ ...config.ops, metrics, readiness });
readiness.serving();
const { userAgent } = serviceNames(manifest);
const leaseClient = lead.enabled
  ? await createKubeClient({ ...config.kubernetes, maxConnections: 4, timeoutMs: lead.leaseMs / 2, userAgent })
  : undefined;
const leader =
  leaseClient &&
  runLeaderElection({
    ...lead,
    client: leaseClient,
    identity: randomUUID(),
    logger,
    clock: () => performance.now(),
    random: Math.random,
    onLost: () => {
      // Another process owns all work from now on. The supervisor restarts this one as a standby.
      logger.fatal("leadership lost, exiting");
      process.exit(1);
    },
  });
let running: RunningPlugin | undefined;
onShutdown(
  async () => {
    readiness.stopping();
    await heartbeats.close();
    await running?.stop();
    service.close();
    await leader?.stop();
    await leaseClient?.close();
    await bus.close();
    store.close();
    await ops.close();
  },
  { logger },
);
if (config.endpoints.length === 0) logger.warn("no connector endpoint is configured: the service has nothing to do");
if (leader !== undefined) logger.info("waiting for leadership");
await leader?.becameLeader;
running = await runPlugin({ plugin: service.plugin, bus, logger, clock, metrics, maxInFlight, producerId });
startIdleGc();
