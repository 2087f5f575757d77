import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { createBlobStore, schemesOf } from "@flyte-ts/blobstore";
import { loadServiceConfig } from "@flyte-ts/config";
import { dataPlaneScope, EVENT_STREAM, SHARD_COUNT } from "@flyte-ts/domain";
import { createKubeClient, ShardLeases } from "@flyte-ts/kubernetes";
import { connectBus, scopedBus } from "@flyte-ts/messaging";
import { clientCredentials } from "@flyte-ts/auth";
import { openChannel } from "@flyte-ts/rpc";
import {
  createLogger,
  installSourceMapSupport,
  onShutdown,
  OtlpExporter,
  Readiness,
  startIdleGc,
  startOpsServer,
} from "@flyte-ts/telemetry";
import { propellerConfigSchema } from "./config.js";
import { defaultEngineConfig, POLLED } from "./engine/config.js";
import { executionDataDir, slicesPrefix } from "./engine/data/paths.js";
import type { Observation } from "./engine/types.js";
import { defaultCacheConfig } from "./engine/cache/config.js";
import { adminAnswerers } from "./shell/ask/admin.js";
import { Controller } from "./shell/controller.js";
import { dynamicAnswerers } from "./shell/ask/dynamic.js";
import { catalogAnswerers } from "./shell/ask/catalog.js";
import { recoveryAnswerers } from "./shell/ask/recovery.js";
import { Ears } from "./shell/ears.js";
import { ensureCluster } from "./shell/ensure-cluster.js";
import { busSink } from "./shell/event-sink/bus-sink.js";
import { forwardTaskEvents } from "./shell/event-sink/forward-task-events.js";
import { grpcRecorder } from "./shell/event-sink/grpc-recorder.js";
import { executionIdOf } from "./shell/execution-of.js";
import { keepCollecting } from "./shell/garbage-collector.js";
import { Holding } from "./shell/holding.js";
import { KubeEvents } from "./shell/kube-events/kube-events.js";
import { listenForPlugins } from "./shell/listen-for-plugins.js";
import { WorkflowLoader } from "./shell/load-workflow.js";
import { PluginPresence } from "./shell/plugin-presence.js";
import { createMetrics, registerGauges } from "./shell/metrics.js";
import { ExecutionSpans } from "./shell/tracing/execution-spans.js";
import { tracedSink } from "./shell/tracing/traced-sink.js";
import { OutputsStore } from "./shell/outputs-store.js";
import { SliceStore } from "./shell/slice-store.js";

installSourceMapSupport();
const config = loadServiceConfig(propellerConfigSchema, "propeller", process);
const logger = createLogger({ service: "propeller", level: config.logLevel });
const { kubernetes, storage, shards, engine } = config;

const client = await createKubeClient({ ...kubernetes, maxConnections: 64, userAgent: "flyte-ts-propeller" });
const metrics = createMetrics();
const readiness = new Readiness({ now: () => performance.now(), checks: { bus: () => bus.unhealthyReason() } });
const ops = await startOpsServer({ ...config.ops, metrics: metrics.registry, readiness });
const bus = scopedBus(
  await connectBus({ url: config.nats.url, name: "propeller", logger, metrics: metrics.registry }),
  dataPlaneScope(config.cluster),
);

// Workflows, tasks and other services refer to blobs by address.
const blobs = createBlobStore({ ...storage, schemes: schemesOf(storage.metadataPrefix, storage.rawOutputPrefix) });
const slices = new SliceStore({ blobs, logger, sleep: setTimeout, random: Math.random });
const adminChannel = openChannel({
  endpoint: config.admin.endpoint,
  deadlineMs: config.admin.timeoutMs,
  ...clientCredentials(config.admin.endpoint, config.admin.auth, () => new Date()),
});
const presence = new PluginPresence({
  since: Date.now(),
  listenMs: config.plugins.listenMs,
  silentAfterMs: config.plugins.silentAfterMs,
});
const { catalog } = config;
const catalogChannel =
  catalog.endpoint === undefined
    ? undefined
    : openChannel({
        endpoint: catalog.endpoint,
        deadlineMs: catalog.timeoutMs,
        ...clientCredentials(catalog.endpoint, catalog.auth, () => new Date()),
      });
const identity = randomUUID();
const traces =
  config.tracing.endpoint === undefined
    ? undefined
    : new OtlpExporter({ ...config.tracing, endpoint: config.tracing.endpoint, service: "propeller" });
const spans = traces && new ExecutionSpans(traces);
const notes = config.kubernetesEvents.enabled
  ? new KubeEvents({
      ...config.kubernetesEvents,
      client,
      instance: identity,
      now: Date.now,
      sleep: setTimeout,
      uidOf: (key) => controller.uidOf(key),
      onDropped: (why) => metrics.notesDropped.inc({ why }),
      onError: (error) => logger.debug({ error: String(error) }, "note on a workflow could not be written"),
    })
  : { record: () => undefined };
const recorder =
  config.events.sink === "grpc"
    ? grpcRecorder(
        {
          ...config.events.grpc,
          endpoint: config.events.grpc.endpoint ?? config.admin.endpoint,
          auth: config.events.grpc.auth ?? config.admin.auth,
        },
        { observe: (key, observation) => controller.observe(key, observation), logger, metrics, random: Math.random },
      )
    : undefined;
const controller: Controller = new Controller({
  client,
  bus,
  events: tracedSink(recorder ?? busSink(bus), spans),
  spans,
  notes,
  outputs: new OutputsStore(blobs),
  answerers: {
    ...adminAnswerers({ channel: adminChannel, blobs, concurrency: config.admin.concurrency }),
    ...dynamicAnswerers({ channel: adminChannel, blobs, ...config.dynamic, limits: config.engine }),
    ...recoveryAnswerers({ channel: adminChannel, blobs, concurrency: config.admin.concurrency }),
    ...catalogAnswerers({ channel: catalogChannel, blobs, concurrency: catalog.concurrency }),
  },
  loader: new WorkflowLoader(client, blobs, slices, kubernetes.namespaceTemplate),
  slices,
  engine: {
    ...defaultEngineConfig(Math.random),
    ...(config.events.sink === "grpc" && { awaitedAgain: POLLED, storesInputs: true }),
    cache:
      catalogChannel === undefined
        ? undefined
        : { ...defaultCacheConfig, maxAge: catalog.maxCacheAgeMs, patience: catalog.patienceMs, heartbeat: catalog.heartbeatMs },
    metadataPrefix: storage.metadataPrefix,
    rawOutputPrefix: storage.rawOutputPrefix,
    producerId: engine.producerId ?? (config.cluster || "propeller"),
    defaultMaxAttempts: engine.defaultMaxAttempts,
    maxSystemFailures: engine.maxSystemFailures,
    interruptibleFailureThreshold: engine.interruptibleFailureThreshold,
    defaultExecutionDeadline: engine.defaultExecutionDeadlineMs,
    defaultActiveDeadline: engine.defaultActiveDeadlineMs,
    maxInstances: engine.maxInstances,
    maxDepth: engine.maxDepth,
    unansweredAfter: config.plugins.unansweredAfterMs,
    pluginDeadline: config.plugins.deadlineMs,
    abandonAborts: config.plugins.stopDeadlineMs,
    inlineStatusLimit: engine.inlineStatusLimitBytes,
    slices: { nodes: engine.sliceNodes, bytes: engine.inlineStatusLimitBytes / 2 },
    deleteResourcesOnFinalize: engine.deleteResourcesOnFinalize,
  },
  metrics,
  logger,
  namespace: kubernetes.namespace,
  namespaceTemplate: kubernetes.namespaceTemplate,
  plugins: () => presence.known,
  workers: config.workers,
  concurrency: config.concurrency,
  resyncMs: config.resyncMs,
  now: Date.now,
  random: Math.random,
  holds: (shard) => leases.holds(shard),
});
const listening = listenForPlugins({
  bus,
  presence,
  now: Date.now,
  onChange: () => controller.pluginsChanged(),
  onStart: (taskTypes) => controller.pluginStarted(taskTypes),
});
await ensureCluster({ client, logger, createCrd: kubernetes.createCrd, namespace: shards.namespace });
const observe = (key: string, observation: Observation) => {
  if (observation.kind === "taskEvent" && observation.event.event !== undefined) spans?.attempt(key, observation.event.event);
  controller.observe(key, observation);
};
const ears = new Ears({ bus, logger, identity, observe, room: () => controller.room() });
const holding = new Holding({ bus, logger, controller, ears });
// Uses its own connections, so that lease renewal never queues.
const leaseClient = await createKubeClient({
  ...kubernetes,
  maxConnections: SHARD_COUNT + 4,
  timeoutMs: shards.leaseMs / 2,
  userAgent: "flyte-ts-propeller",
});
const leases = new ShardLeases({
  client: leaseClient,
  namespace: shards.namespace,
  group: shards.group,
  shards: SHARD_COUNT,
  identity,
  stableIdentity: shards.slot,
  leaseMs: shards.leaseMs,
  logger,
  clock: () => performance.now(),
  random: Math.random,
  onGained: (shard) => holding.gained(shard),
  onLost: (shard) => holding.lost(shard),
});
registerGauges(metrics, {
  queueDepth: () => controller.queueDepth,
  queueLatencyMs: () => controller.queueLatencyMs,
  freeWorkers: () => controller.freeWorkers,
  levels: () => controller.levels,
  pluginSilences: () => presence.silences(Date.now()),
  informerLagMs: () => controller.informerLagMs,
  shards: () => controller.shards.size,
});
if (recorder !== undefined) await bus.ensureStream(EVENT_STREAM);
const forwarding = recorder === undefined ? undefined : await forwardTaskEvents({ bus, sink: recorder });
leases.start();
const { ttlMinutes, intervalMs } = config.garbageCollector;
const collecting =
  ttlMinutes === 0
    ? undefined
    : keepCollecting({
        client,
        logger,
        namespace: kubernetes.namespace,
        retainMs: ttlMinutes * 60_000,
        intervalMs,
        now: Date.now,
        random: Math.random,
        onDeleted: async (meta) => {
          const id = executionIdOf(meta, kubernetes.namespaceTemplate);
          if (id !== undefined) await slices.sweep({ prefix: slicesPrefix(executionDataDir(storage.metadataPrefix, id)), keep: [] });
        },
        // The holder of the first shard is the leader.
        leads: () => leases.holds(0),
      });
readiness.serving();
logger.info({ opsPort: ops.port }, "propeller is ready");

startIdleGc();
onShutdown(
  async () => {
    readiness.stopping();
    await collecting?.close();
    await leases.stop();
    await holding.close();
    await controller.stop();
    await forwarding?.close();
    recorder?.close();
    await traces?.close();
    adminChannel.close();
    await listening.close();
    catalogChannel?.close();
    await bus.close();
    await ops.close();
    await leaseClient.close();
    await client.close();
  },
  { logger },
);
