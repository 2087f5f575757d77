import { serviceAuthSchema } from "@flyte-ts/auth";

import {
  blobStoreSettings,
  checkKubernetesAccess,
  kubernetesAccess,
  logLevel,
  natsSettings,
  opsSettings,
  tracingSettings,
} from "@flyte-ts/config";
import { z } from "zod";

const milliseconds = z.number().int().min(0);

export const propellerConfigSchema = z.strictObject({
  logLevel,
  ops: opsSettings(10_255),
  nats: natsSettings,
  /** Name of this data plane in admin's `clusters`, where several share the bus; its plugin services have the same. */
  cluster: z.string().default(""),
  /** For what nodes ask of it: child executions, signals, interfaces of launch plans. */
  admin: z
    .strictObject({
      /** `host:port`, `http://host:port` or `https://host:port` of its gRPC API. */
      endpoint: z.string().default("127.0.0.1:30080"),
      timeoutMs: milliseconds.min(100).default(15_000),
      /** Calls at once. */
      concurrency: z.number().int().positive().default(64),
      /** As whom it is called, where it asks callers who they are. */
      auth: serviceAuthSchema.optional(),
    })
    .prefault({}),
  /** What tasks make at run time. */
  dynamic: z
    .strictObject({
      /** Graphs that are read and compiled at once. */
      concurrency: z.number().int().positive().default(4),
      /** Largest `futures.pb`. */
      maxBytes: z
        .number()
        .int()
        .positive()
        .default(256 * 1024 * 1024),
      /** Largest compiled graph that an event carries; larger ones stand in the blob store only. */
      maxEventBytes: z
        .number()
        .int()
        .positive()
        .default(512 * 1024),
    })
    .prefault({}),
  /** For outputs that other executions have left, and for leaving them. */
  catalog: z
    .strictObject({
      /** Of the data catalog's gRPC API, as for admin; absent: nothing is cached. */
      endpoint: z.string().optional(),
      /** As whom it is called, where it asks; it must say where tokens are, for the catalog does not. */
      auth: serviceAuthSchema.required({ tokenEndpoint: true }).optional(),
      timeoutMs: milliseconds.min(100).default(5_000),
      /** Calls at once. */
      concurrency: z.number().int().positive().default(64),
      /** Outputs older than this do not count; 0: age does not matter. */
      maxCacheAgeMs: milliseconds.default(0),
      /** A catalog that does not answer delays a node by so much at most. */
      patienceMs: milliseconds.default(10_000),
      /** How often a task that holds up its likes says that it is alive; others may take over after three of these. */
      heartbeatMs: milliseconds.min(100).default(10_000),
    })
    .prefault({}),
  /** One trace for each execution, over OTLP/HTTP. */
  tracing: tracingSettings,
  /** Notes on FlyteWorkflows that `kubectl describe` shows. */
  kubernetesEvents: z
    .strictObject({
      enabled: z.boolean().default(true),
      /** Over all workflows; what is more is left out. */
      perSecond: z.number().positive().default(20),
      burst: z.number().int().positive().default(200),
    })
    .prefault({}),
  /** Where events of workflows, nodes and attempts go. */
  events: z
    .strictObject({
      /** `nats`: over the bus, for our own admin; `grpc`: by the published API, for any Flyte admin. */
      sink: z.enum(["nats", "grpc"]).default("nats"),
      grpc: z
        .strictObject({
          /** Absent: `admin.endpoint`. */
          endpoint: z.string().optional(),
          timeoutMs: milliseconds.min(100).default(15_000),
          /** Calls at once; those of one execution follow each other. */
          concurrency: z.number().int().positive().default(64),
          /** Events that may wait before those that a later one replaces are left out. */
          maxWaiting: z.number().int().positive().default(20_000),
          /** Absent: `admin.auth`. */
          auth: serviceAuthSchema.optional(),
        })
        .prefault({}),
    })
    .prefault({}),
  kubernetes: z
    .strictObject({
      ...kubernetesAccess,
      /** Only workflows of this namespace; absent: of all. */
      namespace: z.string().optional(),
      /**
       * Namespace of a project and domain, as admin's `namespaceTemplate`. A FlyteWorkflow in another namespace than that of its
       * execution is refused.
       */
      namespaceTemplate: z.string().default("{{ project }}-{{ domain }}"),
      /** Create the FlyteWorkflow resource definition when it is missing. */
      createCrd: z.boolean().default(true),
    })
    .superRefine(checkKubernetesAccess)
    .prefault({}),
  storage: z
    .strictObject({
      /** Data of executions stands below it. */
      metadataPrefix: z.string().default("s3://my-s3-bucket/metadata/propeller"),
      rawOutputPrefix: z.string().default("s3://my-s3-bucket/data"),
      ...blobStoreSettings,
    })
    .prefault({}),
  /**
   * Workflows worked on at once: a worker reads a workflow that is new here and shows the engine what
   * has come in. Reading waits, so thousands make sense where thousands of workflows come at once; the rest
   * of a round is computing, of which one process does one thing at a time whatever the number.
   */
  workers: z.number().int().positive().default(100),
  /** Requests to the Kubernetes API at once, however many workers there are. */
  concurrency: z
    .strictObject({ reads: z.number().int().positive().default(32), writes: z.number().int().positive().default(64) })
    .prefault({}),
  /** Every run is walked in full this often, whatever happened. */
  resyncMs: milliseconds.default(60_000),
  plugins: z
    .strictObject({
      /** How long to listen for plugin services before a task type that nobody announced counts as served by nobody. */
      listenMs: milliseconds.default(25_000),
      /** A plugin service that has not announced itself for so long (it does every 10 s) is shown as silent. */
      silentAfterMs: milliseconds.default(35_000),
      /** A request that a plugin service has not answered for so long is shown as waiting for it; 0 means never. */
      unansweredAfterMs: milliseconds.default(60_000),
      /** An attempt that nobody serves, or nobody tells of, fails after this time; 0: it waits until somebody does. */
      deadlineMs: milliseconds.default(0),
      /** A request to stop an attempt that had begun is given up when nobody has answered it for so long; 0: never. */
      stopDeadlineMs: milliseconds.default(1_800_000),
    })
    .prefault({}),
  /** Resources of finished workflows are deleted; one replica does it. */
  garbageCollector: z
    .strictObject({
      /** How long they stay, minutes; those of one hour go together. 0: for ever. */
      ttlMinutes: z
        .number()
        .int()
        .min(0)
        .default(23 * 60),
      intervalMs: milliseconds.min(1_000).default(30 * 60_000),
    })
    .prefault({}),
  /** How replicas share out the shards of workflows. */
  shards: z
    .strictObject({
      /** Namespace of the Leases. */
      namespace: z.string().default("flyte"),
      /** Replicas of one group share the workflows of a cluster. */
      group: z.string().default("propeller"),
      /** A replica that fell silent for so long is replaced. */
      leaseMs: milliseconds.min(1_000).default(10_000),
      /** A place that at most one process has at any time, as a StatefulSet's pod name: who starts there takes over at once from the one before. */
      slot: z.string().optional(),
    })
    .prefault({}),
  engine: z
    .strictObject({
      /** `producer_id` of events: the id of this cluster. Default: `cluster`, or `propeller` where that is empty. */
      producerId: z.string().optional(),
      defaultMaxAttempts: z.number().int().positive().default(1),
      maxSystemFailures: z.number().int().min(0).default(3),
      interruptibleFailureThreshold: z.number().int().default(-1),
      defaultExecutionDeadlineMs: milliseconds.default(0),
      defaultActiveDeadlineMs: milliseconds.default(0),
      /** Node instances that one execution may come to when its sub-workflows are expanded, and that it may hold at once. */
      maxInstances: z.number().int().positive().default(200_000),
      /** How deep sub-workflows may stand in one another, the workflow itself included. */
      maxDepth: z.number().int().positive().default(100),
      /** Larger statuses of nodes stand in the blob store, in slices; etcd takes 1.5 MiB in all. */
      inlineStatusLimitBytes: z
        .number()
        .int()
        .min(0)
        .default(256 * 1024),
      /** Nodes of a slice. */
      sliceNodes: z.number().int().positive().default(256),
      deleteResourcesOnFinalize: z.boolean().default(false),
    })
    .prefault({}),
});
