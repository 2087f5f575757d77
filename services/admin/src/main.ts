import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type BlobScheme, createBlobStore, schemesOf } from "@flyte-ts/blobstore";
import { loadServiceConfig } from "@flyte-ts/config";
import { EVENT_STREAM } from "@flyte-ts/bus-contract";
import { createKubeClient } from "@flyte-ts/kubernetes";
import { connectBus } from "@flyte-ts/messaging";
import { createPool, checkDatabase, waitForDatabase } from "@flyte-ts/postgres";
import { callLog, callMetrics, callSpans, createRpcServer, type RpcServer } from "@flyte-ts/rpc";
import { onShutdown, Readiness, startIdleGc, startOpsServer } from "@flyte-ts/lifecycle";
import { createLogger, installSourceMapSupport, Metrics, OtlpExporter } from "@flyte-ts/telemetry";
import { adminConfigSchema } from "./config.js";
import { consoleRoutes } from "./console/index.js";
import { createAccess } from "./identity/index.js";
import {
  type Cluster,
  clusterMetrics,
  clusterStatus,
  countProbes,
  startSync,
  watchClusters,
  watchPluginServices,
} from "./clusters/index.js";
import { executionQueries, OUTBOX_CHANNEL, outboxMetrics, publishChanged, startStreaming, outboxQueue } from "./executions/index.js";
import { startCompletionProcessor, startRetention, startTriggers } from "./automation/index.js";
import { startIngest } from "./events/index.js";
import { startLauncher, startMaintenance } from "./dispatch/index.js";
import { CompilerWorker, seedProjects } from "./registry/index.js";
import type { AdminDeps } from "./deps.js";
import { adminHttpPolicy } from "./http-policy.js";
import { adminLimits } from "./request-limits.js";
import { adminRoutes, adminServices, mapInfrastructureErrors } from "./server.js";

installSourceMapSupport();
const config = loadServiceConfig(adminConfigSchema, "admin", process);
const logger = createLogger({ service: "admin", level: config.logLevel });
const metrics = new Metrics();
const db = createPool({ ...config.database, applicationName: "flyte-ts admin", logger });
const readiness = new Readiness({
  now: () => performance.now(),
  checks: { bus: () => bus.unhealthyReason(), database: () => checkDatabase(db) },
});
readiness.starting("waiting for the database");
const ops = await startOpsServer({
  ...config.ops,
  metrics,
  jsonEndpoints: { "/clusters": () => clusters.map((cluster) => clusterStatus(cluster, health)) },
  readiness,
});

const migrations = config.database.migrations ?? fileURLToPath(new URL("../migrations", import.meta.url));
await waitForDatabase(() => db.migrate({ directory: migrations, logger }), logger);
readiness.starting("waiting for the message bus");
const bus = await connectBus({ ...config.nats, name: "admin", logger, metrics });
await bus.ensureStream(EVENT_STREAM);
const clusters: Cluster[] = [];
for (const { name, weight, enabled, pools, ...access } of config.clusters) {
  const own = access.kubeconfig === undefined && access.endpoint === undefined;
  clusters.push({
    name,
    weight,
    enabled,
    pools,
    kube: await createKubeClient({ ...(own ? { inCluster: true } : access), userAgent: "flyte-ts-admin" }),
  });
}
const health = await watchClusters({
  clusters,
  limits: config.clusterHealth,
  logger,
  now: Date.now,
  onProbe: countProbes(metrics),
  onRecovered: (cluster) =>
    void outboxQueue
      .expediteEntries(db, cluster, OUTBOX_CHANNEL)
      .catch((error: unknown) => logger.warn({ cluster, error: String(error) }, "cannot expedite outbox entries after cluster recovery")),
});
clusterMetrics(metrics, { clusters, health });
const plugins = watchPluginServices(bus, Date.now);
// Events and clients send URIs; local files are excluded unless the store is a folder.
const schemes = new Set<BlobScheme>(["s3", "gs", "abfs", ...schemesOf(config.storage.container)]);
const blobs = createBlobStore({ ...config.storage, schemes });
const compilerWorker = new CompilerWorker({
  module: new URL("./registry/workflow/compiler/main.js", import.meta.url),
  idleMs: 10_000,
  largeBytes: 1024 * 1024,
});
const clock = () => new Date();
const live = startStreaming({ config, db, bus, clock, logger, metrics });
const base: AdminDeps = {
  config,
  db,
  blobs,
  bus,
  clusters,
  health,
  plugins,
  logger,
  metrics,
  compilerWorker,
  clock,
  publishChanged: (executionIds) => publishChanged(bus, executionIds),
  noteEnd: (execution, nodes) => live.endedTables.add(execution, nodes),
  random: Math.random,
  env: process.env,
};
await seedProjects(base);

outboxMetrics(metrics, db);
const ingest = await startIngest(base);
// Without a data plane executions are accepted and wait for one.
const launcher = clusters.length === 0 ? undefined : await startLauncher(base);
const deps: AdminDeps = { ...base, ...(launcher && { launchSlots: launcher.launches }) };
const background = [
  plugins,
  ...(launcher === undefined ? [] : [launcher]),
  startMaintenance(deps),
  startRetention(deps),
  startCompletionProcessor(deps),
  startTriggers(deps),
  ...(config.clusterResources.templatePath === undefined ? [] : [startSync(deps)]),
];
const servers: RpcServer[] = [];
const access =
  config.auth.mode === "required"
    ? await createAccess({
        ...deps,
        listenAddress: () => ownAddress(servers),
        findLauncher: (execution) => executionQueries.findLauncher(db, execution),
      })
    : undefined;
// Set in images at build time.
const { FLYTE_TS_BUILD_VERSION: version = "0.1.0", FLYTE_TS_BUILD_REVISION: revision = "unknown" } = process.env;
const services = adminServices({ ...deps, live }, { version, revision, time: new Date().toISOString() }, access);
const { tracing } = config;
const traces = tracing.endpoint === undefined ? undefined : new OtlpExporter({ ...tracing, endpoint: tracing.endpoint, service: "admin" });
const interceptors = [
  callMetrics(metrics, "admin"),
  callLog(logger),
  ...(traces === undefined ? [] : [callSpans(traces, Date.now)]),
  mapInfrastructureErrors,
];
const pages = await consoleRoutes(config.console, { blobs, logger });
const { host, grpcPort, httpPort, maxMessageBytes, tls } = config.server;
// Each port serves both protocols, so one is enough.
for (const port of new Set([grpcPort, httpPort])) {
  const server = createRpcServer({
    logger,
    services,
    interceptors,
    limits: adminLimits(maxMessageBytes),
    httpPolicy: adminHttpPolicy(config),
    tls: tls && { ...tls, reloadMs: tls.reloadSeconds * 1000 },
    httpRoutes: [...adminRoutes(deps), ...pages, ...(access?.httpRoutes ?? [])],
    ...(access && {
      authorizeHttp: access.authorizeHttp,
      guard: access,
      corsHeaders: ["authorization", config.auth.headerKey],
    }),
  });
  access?.assertRulesComplete(server);
  const address = await server.listen({ host, port });
  logger.info({ host, port: address.port }, "listening");
  servers.push(server);
}
readiness.serving();
logger.info({ opsPort: ops.port }, "admin is ready");

startIdleGc();
onShutdown(
  async () => {
    readiness.stopping();
    const drained = Promise.all(servers.map((server) => server.drain(config.server.drain)));
    await sleep(config.server.drain.delayMs);
    await live.close();
    await drained;
    await compilerWorker.close();
    await ingest.close();
    await Promise.all(background.map((part) => part.close()));
    await access?.close();
    await health.close();
    await bus.close();
    await Promise.all(clusters.map(({ kube }) => kube.close()));
    blobs.close();
    await traces?.close();
    await db.close();
    await ops.close();
  },
  { logger, timeoutMs: config.server.drain.delayMs + config.server.drain.deadlineMs + 10_000 },
);

function ownAddress([first]: readonly RpcServer[]): RpcServer["address"] {
  if (first === undefined) throw new Error("admin is not listening yet");
  return first.address;
}
