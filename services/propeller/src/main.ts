import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { createBlobStore, schemesOf } from "@flyte-ts/blobstore";
import { loadServiceConfig } from "@flyte-ts/config";
import { dataPlaneScope, EVENT_STREAM } from "@flyte-ts/bus-contract";
import { SHARD_COUNT } from "@flyte-ts/domain/name";
import { createKubeClient, ShardLeases } from "@flyte-ts/kubernetes";
import { connectBus, scopedBus } from "@flyte-ts/messaging";
import { clientCredentials } from "@flyte-ts/auth";
import { openChannel } from "@flyte-ts/rpc";
import { onShutdown, Readiness, startIdleGc, startOpsServer } from "@flyte-ts/lifecycle";
import { createLogger, installSourceMapSupport, OtlpExporter } from "@flyte-ts/telemetry";
import { propellerConfigSchema } from "./config.js";
import { defaultEngineConfig, PRIMARY_POLL } from "./engine/config.js";
import { executionDataDir, slicesPrefix } from "./engine/graph/paths.js";
import type { Observation } from "./engine/types.js";
import { defaultCacheConfig } from "./engine/cache/config.js";
import { adminCallHandlers } from "./shell/calls/admin.js";
import { Controller } from "./shell/controller/controller.js";
import { dynamicCallHandlers } from "./shell/calls/dynamic.js";
import { catalogCallHandlers } from "./shell/calls/catalog.js";
import { recoveryCallHandlers } from "./shell/calls/recovery.js";
import { EventConsumer } from "./shell/controller/event-consumer.js";
import { ensurePrerequisites } from "./shell/cluster/ensure-prerequisites.js";
import { busSink } from "./shell/event-sink/bus-sink.js";
import { forwardTaskEvents } from "./shell/event-sink/forward-task-events.js";
import { connectGrpcSink } from "./shell/event-sink/connect-grpc-sink.js";
import { executionIdOf } from "./shell/load/execution-id.js";
import { startGarbageCollector } from "./shell/cluster/garbage-collector.js";
import { ShardAssignment } from "./shell/controller/shard-assignment.js";
import { KubeEvents } from "./shell/kube-events/kube-events.js";
import { consumePluginHeartbeats } from "./shell/plugins/plugin-heartbeats.js";
import { WorkflowLoader } from "./shell/load/load-workflow.js";
import { PluginRegistry } from "./shell/plugins/plugin-registry.js";
import { createMetrics, registerGauges } from "./shell/metrics.js";
import { ExecutionSpans } from "./shell/tracing/execution-spans.js";
import { tracedSink } from "./shell/tracing/traced-sink.js";
import { OutputsStore } from "./shell/effects/outputs-store.js";
import { SliceStore } from "./shell/status/slice-store.js";

installSourceMapSupport();
const config = loadServiceConfig(propellerConfigSchema, "propeller", process);
const logger = createLogger({ service: "propeller", level: config.logLevel });
const { kubernetes, storage, shards, engine } = config;

const client = await createKubeClient({ ...kubernetes, maxConnections: 64, userAgent: "flyte-ts-propeller" });
const metrics = createMetrics();
const readiness = new Readiness({ now: () => performance.now(), checks: { bus: () => bus.unhealthyReason() } });
const ops = await startOpsServer({ ...config.ops, metrics: metrics.registry, readiness });
const bus = scopedBus(
  await connectBus({ ...config.nats, name: "propeller", logger, metrics: metrics.registry }),
  dataPlaneScope(config.cluster),
);

// Accepts only the address schemes of the configured prefixes, since workflows, tasks and other
// services provide the addresses of blobs.
const blobs = createBlobStore({ ...storage, schemes: schemesOf(storage.metadataPrefix, storage.rawOutputPrefix) });
const slices = new SliceStore({ blobs, logger, sleep: setTimeout, random: Math.random });
const adminChannel = openChannel({
  endpoint: config.admin.endpoint,
  deadlineMs: config.admin.timeoutMs,
  ...clientCredentials(config.admin.endpoint, config.admin.auth, () => new Date()),
});
const pluginRegistry = new PluginRegistry({
  listeningSince: Date.now(),
  discoveryMs: config.plugins.listenMs,
  heartbeatTimeoutMs: config.plugins.silentAfterMs,
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
const kubeEvents = config.kubernetesEvents.enabled
  ? new KubeEvents({
      ...config.kubernetesEvents,
      client,
      instance: identity,
      now: Date.now,
      sleep: setTimeout,
      uidOf: (key) => controller.uidOf(key),
      onDropped: (why) => metrics.kubeEventsDropped.inc({ why }),
      onError: (error) => logger.debug({ error: String(error) }, "event on a FlyteWorkflow could not be written"),
    })
  : { record: () => undefined };
const grpcSink =
  config.events.sink === "grpc"
    ? connectGrpcSink(
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
  events: tracedSink(grpcSink ?? busSink(bus), spans),
  spans,
  kubeEvents,
  outputs: new OutputsStore(blobs),
  callHandlers: {
    ...adminCallHandlers({
      channel: adminChannel,
      blobs,
      concurrency: config.admin.concurrency,
      isShared: (key) => controller.isContended(key),
    }),
    ...dynamicCallHandlers({ channel: adminChannel, blobs, ...config.dynamic, limits: config.engine }),
    ...recoveryCallHandlers({ channel: adminChannel, blobs, concurrency: config.admin.concurrency }),
    ...catalogCallHandlers({ channel: catalogChannel, blobs, concurrency: catalog.concurrency }),
  },
  loader: new WorkflowLoader(client, blobs, slices, kubernetes.namespaceTemplate),
  slices,
  engine: {
    ...defaultEngineConfig(Math.random),
    ...(config.events.sink === "grpc" && { wakeupFallbackBackoff: PRIMARY_POLL, storesInputs: true }),
    cache:
      catalogChannel === undefined
        ? undefined
        : {
            ...defaultCacheConfig,
            maxAge: catalog.maxCacheAgeMs,
            shareAcrossProjects: catalog.shareAcrossProjects,
            lookupTimeout: catalog.patienceMs,
            heartbeatInterval: catalog.heartbeatMs,
          },
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
    pluginResponseTimeout: config.plugins.unansweredAfterMs,
    pluginUnavailableTimeout: config.plugins.deadlineMs,
    abortTimeout: config.plugins.stopDeadlineMs,
    maxInlineStatusBytes: engine.inlineStatusLimitBytes,
    sliceLimits: { nodes: engine.sliceNodes, bytes: engine.inlineStatusLimitBytes / 2 },
    deleteResourcesOnFinalize: engine.deleteResourcesOnFinalize,
  },
  metrics,
  logger,
  namespace: kubernetes.namespace,
  namespaceTemplate: kubernetes.namespaceTemplate,
  plugins: () => pluginRegistry.health,
  workers: config.workers,
  concurrency: config.concurrency,
  resyncMs: config.resyncMs,
  now: Date.now,
  random: Math.random,
  holdsShard: (shard) => leases.holds(shard),
});
const heartbeats = consumePluginHeartbeats({
  bus,
  registry: pluginRegistry,
  now: Date.now,
  onChange: () => controller.onPluginHealth(),
  onStart: (taskTypes) => controller.onPluginStarted(taskTypes),
});
await ensurePrerequisites({ client, logger, createCrd: kubernetes.createCrd, namespace: shards.namespace });
const observe = (key: string, observation: Observation) => {
  if (observation.kind === "taskEvent" && observation.event.event !== undefined) spans?.onTaskEvent(key, observation.event.event);
  controller.observe(key, observation);
};
const events = new EventConsumer({ bus, logger, identity, observe, whenCapacity: () => controller.whenCapacity() });
const assignment = new ShardAssignment({ bus, logger, controller, events });
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
  onGained: (shard, regained) => assignment.onGained(shard, regained),
  onLost: (shard) => assignment.onLost(shard),
});
registerGauges(metrics, {
  queueDepth: () => controller.queueDepth,
  queueLatencyMs: () => controller.queueLatencyMs,
  freeWorkers: () => controller.freeWorkers,
  loadSnapshot: () => controller.loadSnapshot,
  pluginHeartbeatAges: () => pluginRegistry.heartbeatAges(Date.now()),
  informerLagMs: () => controller.informerLagMs,
  shards: () => controller.shards.size,
});
if (grpcSink !== undefined) await bus.ensureStream(EVENT_STREAM);
const forwarding = grpcSink === undefined ? undefined : await forwardTaskEvents({ bus, sink: grpcSink });
leases.start();
const { ttlMinutes, intervalMs } = config.garbageCollector;
const garbageCollector =
  ttlMinutes === 0
    ? undefined
    : startGarbageCollector({
        client,
        logger,
        namespace: kubernetes.namespace,
        ttlMs: ttlMinutes * 60_000,
        intervalMs,
        now: Date.now,
        random: Math.random,
        onDeleted: async (meta) => {
          const id = executionIdOf(meta, kubernetes.namespaceTemplate);
          if (id !== undefined)
            await slices.deleteAllExcept({ prefix: slicesPrefix(executionDataDir(storage.metadataPrefix, id)), keep: [] });
        },
        // The holder of the first shard is the leader.
        isLeader: () => leases.holds(0),
      });
readiness.serving();
logger.info({ opsPort: ops.port }, "propeller is ready");

startIdleGc();
onShutdown(
  async () => {
    readiness.stopping();
    await garbageCollector?.close();
    await leases.stop();
    await assignment.close();
    await controller.stop();
    await forwarding?.close();
    grpcSink?.close();
    await traces?.close();
    adminChannel.close();
    await heartbeats.close();
    catalogChannel?.close();
    await bus.close();
    await ops.close();
    await leaseClient.close();
    await client.close();
  },
  { logger },
);
