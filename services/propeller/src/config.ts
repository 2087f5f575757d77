import { serviceAuthSchema } from "@flyte-ts/auth";

import {
  blobStoreSettings,
  checkKubernetesSettings,
  kubernetesSettings,
  logLevel,
  natsStreamSettings,
  opsSettings,
  tracingSettings,
} from "@flyte-ts/config";
import { z } from "zod";

const milliseconds = z.number().int().min(0);

export const propellerConfigSchema = z.strictObject({
  logLevel,
  ops: opsSettings(10_255),
  nats: natsStreamSettings,
  /**
   * Name of this data plane in admin's `clusters`, when several share the bus; its plugin services
   * use the same name.
   */
  cluster: z.string().default(""),
  /** Admin, called for nodes: child executions, signals, interfaces of launch plans. */
  admin: z
    .strictObject({
      /** Address of its gRPC API: `host:port`, `http://host:port` or `https://host:port`. */
      endpoint: z.string().default("127.0.0.1:30080"),
      /** Timeout of one call, ms. */
      timeoutMs: milliseconds.min(100).default(15_000),
      /** Maximum of concurrent calls. */
      concurrency: z.number().int().positive().default(64),
      /** Credentials, for an admin with authentication. */
      auth: serviceAuthSchema.optional(),
    })
    .prefault({}),
  /** Graphs that dynamic tasks produce. */
  dynamic: z
    .strictObject({
      /** Maximum of graphs read and compiled concurrently. */
      concurrency: z.number().int().positive().default(4),
      /** Maximum size of `futures.pb`, bytes. */
      maxBytes: z
        .number()
        .int()
        .positive()
        .default(256 * 1024 * 1024),
      /**
       * Maximum size of a compiled graph in an event, bytes; larger ones are in the blob store
       * only.
       */
      maxEventBytes: z
        .number()
        .int()
        .positive()
        .default(512 * 1024),
    })
    .prefault({}),
  /** Data catalog for the lookup and storage of cached outputs. */
  catalog: z
    .strictObject({
      /** Address of its gRPC API, as for admin; absent: caching is off. */
      endpoint: z.string().optional(),
      /**
       * Credentials, for a catalog with authentication; `tokenEndpoint` is required, since the
       * catalog does not publish it.
       */
      auth: serviceAuthSchema.required({ tokenEndpoint: true }).optional(),
      /** Timeout of one call, ms. */
      timeoutMs: milliseconds.min(100).default(5_000),
      /** Maximum of concurrent calls. */
      concurrency: z.number().int().positive().default(64),
      /** Maximum age of cached outputs, ms; 0: no limit. */
      maxCacheAgeMs: milliseconds.default(0),
      /**
       * Share cached outputs of a task between the executions of all projects and domains, as Go
       * Flyte does. Anyone who may run a task of another project can then replace what that project
       * has cached. Off: an execution uses entries of its own project and domain only.
       */
      shareAcrossProjects: z.boolean().default(false),
      /** Timeout of a catalog lookup, after which the node runs without it, ms. */
      patienceMs: milliseconds.default(10_000),
      /**
       * Interval of reservation heartbeats, ms; others may take the reservation after three missed
       * ones.
       */
      heartbeatMs: milliseconds.min(100).default(10_000),
    })
    .prefault({}),
  /** Exports one trace per execution, over OTLP/HTTP. */
  tracing: tracingSettings,
  /** Kubernetes events on FlyteWorkflows, which `kubectl describe` shows. */
  kubernetesEvents: z
    .strictObject({
      /** Write these events. */
      enabled: z.boolean().default(true),
      /** Rate limit over all workflows, events per second; further events are dropped. */
      perSecond: z.number().positive().default(20),
      /** Events that may be written at once after a quiet time. */
      burst: z.number().int().positive().default(200),
    })
    .prefault({}),
  /** Destination of workflow, node and attempt events. */
  events: z
    .strictObject({
      /**
       * `nats`: over the bus, for this project's admin; `grpc`: by the public API, for any Flyte
       * admin.
       */
      sink: z.enum(["nats", "grpc"]).default("nats"),
      grpc: z
        .strictObject({
          /** Address of the public API. Default: `admin.endpoint`. */
          endpoint: z.string().optional(),
          /** Timeout of one call, ms; it is then repeated. */
          timeoutMs: milliseconds.min(100).default(15_000),
          /** Maximum of concurrent calls; the events of one execution are sent in sequence. */
          concurrency: z.number().int().positive().default(64),
          /** Queue length beyond which superseded events are dropped. */
          maxWaiting: z.number().int().positive().default(20_000),
          /** Credentials for that API. Default: `admin.auth`. */
          auth: serviceAuthSchema.optional(),
        })
        .prefault({}),
    })
    .prefault({}),
  kubernetes: z
    .strictObject({
      ...kubernetesSettings,
      /** Restricts propeller to the workflows of this namespace; absent: all. */
      namespace: z.string().optional(),
      /**
       * Namespace of a project and domain, the same as admin's `namespaceTemplate`. A FlyteWorkflow
       * outside its execution's namespace is rejected.
       */
      namespaceTemplate: z.string().default("{{ project }}-{{ domain }}"),
      /** Create the FlyteWorkflow resource definition when it is missing. */
      createCrd: z.boolean().default(true),
    })
    .superRefine(checkKubernetesSettings)
    .prefault({}),
  storage: z
    .strictObject({
      /** Prefix of the data of executions. */
      metadataPrefix: z.string().default("s3://my-s3-bucket/metadata/propeller"),
      /**
       * Prefix of task outputs that are larger than a literal, unless the execution sets another.
       */
      rawOutputPrefix: z.string().default("s3://my-s3-bucket/data"),
      ...blobStoreSettings,
    })
    .prefault({}),
  /**
   * Maximum of concurrent reconciles. A worker reads a workflow that is new to this process and
   * processes its observations. Reads wait for I/O, so thousands of workers help when thousands of
   * workflows arrive at once; the rest of a reconcile is computation, which one process does
   * serially.
   */
  workers: z.number().int().positive().default(100),
  /** Maximum of concurrent requests to the Kubernetes API, whatever the number of workers. */
  concurrency: z
    .strictObject({
      /** Maximum of concurrent reads. */
      reads: z.number().int().positive().default(32),
      /** Maximum of concurrent writes. */
      writes: z.number().int().positive().default(64),
    })
    .prefault({}),
  /** Interval of each run's resync, ms. */
  resyncMs: milliseconds.default(60_000),
  plugins: z
    .strictObject({
      /** Discovery time before a task type without heartbeat counts as unserved, ms. */
      listenMs: milliseconds.default(25_000),
      /**
       * Time without heartbeat (sent every 10 s) after which a plugin service is reported as stale,
       * ms.
       */
      silentAfterMs: milliseconds.default(35_000),
      /**
       * Time without response after which a request is reported as waiting for its plugin service,
       * ms; 0: never.
       */
      unansweredAfterMs: milliseconds.default(60_000),
      /** Time after which an attempt fails whose plugin is missing or silent, ms; 0: never. */
      deadlineMs: milliseconds.default(0),
      /** Time after which an unanswered abort of a started attempt is abandoned, ms; 0: never. */
      stopDeadlineMs: milliseconds.default(1_800_000),
    })
    .prefault({}),
  /** Deletes resources of finished workflows; one replica does it. */
  garbageCollector: z
    .strictObject({
      /**
       * Retention of the resources, minutes; those of one hour are deleted together. 0: forever.
       */
      ttlMinutes: z
        .number()
        .int()
        .min(0)
        .default(23 * 60),
      /**
       * Average interval between deletions, ms; each wait is between half and one and a half of it.
       */
      intervalMs: milliseconds.min(1_000).default(30 * 60_000),
    })
    .prefault({}),
  /** Distribution of the workflow shards over replicas. */
  shards: z
    .strictObject({
      /** Namespace of the Lease objects. */
      namespace: z.string().default("flyte"),
      /** Replicas of one group share the workflows of a cluster. */
      group: z.string().default("propeller"),
      /** Time without renewal after which a replica is replaced, ms. */
      leaseMs: milliseconds.min(1_000).default(10_000),
      /**
       * Stable identity, unique among live replicas, such as a StatefulSet's pod name: a restarted
       * replica takes over its old leases at once.
       */
      slot: z.string().optional(),
    })
    .prefault({}),
  engine: z
    .strictObject({
      /**
       * `producer_id` of events: the id of this cluster. Default: `cluster`, or `propeller` when
       * that is empty.
       */
      producerId: z.string().optional(),
      /** Maximum attempts of a task that sets none. */
      defaultMaxAttempts: z.number().int().positive().default(1),
      /** Attempts that may be lost to system failures before the next one is fatal. */
      maxSystemFailures: z.number().int().min(0).default(3),
      /**
       * Number of system failures after which attempts no longer run on interruptible nodes; 0 or
       * less counts back from the last attempt.
       */
      interruptibleFailureThreshold: z.number().int().default(-1),
      /** Timeout of one attempt when the node sets none, ms; 0: none. */
      defaultExecutionDeadlineMs: milliseconds.default(0),
      /** Timeout of a node over all attempts when it sets none, ms; 0: none. */
      defaultActiveDeadlineMs: milliseconds.default(0),
      /**
       * Maximum of node instances of one execution, both after expansion of its sub-workflows and
       * at one time.
       */
      maxInstances: z.number().int().positive().default(200_000),
      /** Maximum nesting depth of sub-workflows, including the workflow itself. */
      maxDepth: z.number().int().positive().default(100),
      /**
       * Size above which node statuses move to slices in the blob store, bytes; etcd accepts 1.5
       * MiB in all.
       */
      inlineStatusLimitBytes: z
        .number()
        .int()
        .min(0)
        .default(256 * 1024),
      /** Nodes per status slice. */
      sliceNodes: z.number().int().positive().default(256),
      /** Delete objects of ended attempts even after success. */
      deleteResourcesOnFinalize: z.boolean().default(false),
    })
    .prefault({}),
});
