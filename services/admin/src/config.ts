import { MAX_PRESIGN_SECONDS } from "@flyte-ts/blobstore";
import { isTimeZone } from "@flyte-ts/schedules";
import {
  databaseSettings,
  drainSettings,
  httpPolicySettings,
  isLoopback,
  logLevel,
  natsSettings,
  opsSettings,
  port,
  presigningBlobStoreSettings,
  tracingSettings,
} from "@flyte-ts/config";
import { z } from "zod";
import { retentionSchema } from "./automation/retention/config-schema.js";
import { authSchema, isOrigin } from "./identity/config-schema.js";
import { clusterResourcesSchema } from "./clusters/resources/config-schema.js";
import { clusterHealthSchema, clustersSchema, placementSchema } from "./clusters/config-schema.js";
import { triggersSchema } from "./automation/trigger/config-schema.js";
import { notificationsSchema } from "./automation/notification/config-schema.js";

/** Kubernetes quantities by resource; an empty string or absence means none. */
const resources = z.strictObject({
  cpu: z.string().default(""),
  memory: z.string().default(""),
  ephemeralStorage: z.string().default(""),
  gpu: z.string().default(""),
});

/** Excludes GPUs, whose limit always equals the request: Kubernetes accepts nothing else. */
const defaultLimits = resources.omit({ gpu: true });

/** Seconds; stores sign URLs for at most a week. */
const maxExpiresInSeconds = z.number().positive().max(MAX_PRESIGN_SECONDS).default(3600);

const settings = z.strictObject({
  /** Export of call spans over OTLP/HTTP; spans of an execution's calls belong to its trace. */
  tracing: tracingSettings,
  auth: authSchema.prefault({}),
  notifications: notificationsSchema,
  triggers: triggersSchema,
  logLevel,
  server: z
    .strictObject({
      host: z.string().default("127.0.0.1"),
      /** Port for gRPC. */
      grpcPort: port.default(8089),
      /** Port for REST and, for clients that use one address for both, gRPC. */
      httpPort: port.default(8088),
      /** Maximum request size, bytes. A graph of 100,000 nodes has about 10 MB; Flyte's default is 4 MiB. */
      maxMessageBytes: z
        .number()
        .int()
        .positive()
        .default(64 * 1024 * 1024),
      ...httpPolicySettings,
      /** Makes the ports accept TLS only. */
      tls: z
        .strictObject({
          /** PEM file: the certificate and its intermediate certificates. */
          certFile: z.string().min(1),
          /** PEM file. */
          keyFile: z.string().min(1),
          /** Interval between checks of the files for changes, seconds: a renewed certificate needs no restart. */
          reloadSeconds: z.number().positive().max(86_400).default(60),
        })
        .optional(),
      /** Permits unauthenticated callers from other hosts: required with `auth.mode: open` when `host` is not a loopback address. */
      openToNetwork: z.boolean().default(false),
      drain: drainSettings,
    })
    .prefault({}),
  ops: opsSettings(10254),
  database: databaseSettings({ name: "flyteadmin", maxConnections: 20 }),
  nats: natsSettings,
  storage: z
    .strictObject({
      /** Container of metadata: `s3://bucket`, `gs://bucket`, `abfs://container` or `file:///folder`. */
      container: z.string().default("s3://my-s3-bucket"),
      /** Prefix of admin's own objects in the container. */
      metadataPrefix: z.string().default("metadata"),
      /** Prefix of propeller's objects of executions. */
      propellerPrefix: z.string().default("metadata/propeller"),
      /** Prefix of task outputs that are larger than a literal, unless the request sets another. */
      rawOutputPrefix: z.string().default("s3://my-s3-bucket/data"),
      ...presigningBlobStoreSettings,
    })
    .prefault({}),
  clusters: clustersSchema,
  placement: placementSchema.prefault({}),
  clusterHealth: clusterHealthSchema.prefault({}),
  clusterResources: clusterResourcesSchema.prefault({}),
  /** Connectors that admin lists for clients. */
  agents: z
    .strictObject({
      /** `host:port` in plaintext, `https://host:port` over TLS. */
      endpoints: z.array(z.string().min(1)).default([]),
      /** Timeout of a query of one connector, ms. */
      timeoutMs: z.number().int().positive().default(5_000),
    })
    .prefault({}),
  /** Created at start if missing. */
  projects: z.array(z.string()).default(["flytesnacks"]),
  domains: z
    .array(z.strictObject({ id: z.string().min(1), name: z.string().min(1) }))
    .min(1)
    .default([
      { id: "development", name: "development" },
      { id: "staging", name: "staging" },
      { id: "production", name: "production" },
    ]),
  /** Template of the namespace of an execution's resources. */
  namespaceTemplate: z.string().default("{{ project }}-{{ domain }}"),
  taskResources: z
    .strictObject({
      defaults: resources.prefault({ cpu: "2", memory: "200Mi" }),
      /**
       * Minimum limits of containers without limits, up to `limits`: a CPU limit above the default request lets a task
       * use idle CPUs. Default: the limit equals the request, as in Flyte.
       */
      defaultLimits: defaultLimits.optional(),
      limits: resources.prefault({ cpu: "2", memory: "1Gi", gpu: "1" }),
    })
    .prefault({}),
  registration: z
    .strictObject({
      /** Maximum of nodes of one workflow; 0 means no limit. */
      maxWorkflowNodes: z.number().int().min(0).default(100),
      /** Maximum of labels and annotations of one launch plan or execution; 0 means no limit. */
      maxLabelEntries: z.number().int().min(0).default(0),
      maxAnnotationEntries: z.number().int().min(0).default(0),
      /** Maximum size of one compiled workflow, bytes; 0 means no limit. */
      workflowSizeLimit: z.number().int().min(0).default(0),
      /**
       * Maximum of node instances of one workflow with all its sub-workflows expanded, checked at registration and
       * launch; 0 means no limit.
       */
      maxWorkflowInstances: z.number().int().min(0).default(200_000),
      /** Maximum nesting of sub-workflows, including the workflow itself; 0 means no limit. */
      maxWorkflowDepth: z.number().int().min(0).default(100),
      /**
       * Task type → scopes in which such tasks may be registered; an empty project or domain matches all. Unlisted
       * types may be registered everywhere.
       */
      taskTypeWhitelist: z
        .record(z.string(), z.array(z.strictObject({ project: z.string().default(""), domain: z.string().default("") })))
        .default({}),
    })
    .prefault({}),
  /** Streams of executions and logs. */
  live: z
    .strictObject({
      /** Maximum of streams per replica; further ones are rejected. */
      maxStreams: z.number().int().positive().default(20_000),
      /** Maximum of log streams in addition, each with a connection to a data plane. */
      maxLogStreams: z.number().int().positive().default(500),
      /** Poll interval of a watched execution, seconds, since notifications of changes may be lost. */
      pollSeconds: z.number().positive().default(10),
      /** Maximum interval between messages to a client, seconds. */
      heartbeatSeconds: z.number().positive().default(30),
      /** Time for which ends of nodes and attempts are awaited after the end of their execution, seconds. */
      lingerSeconds: z.number().min(0).default(5),
    })
    .prefault({}),
  schedules: z
    .strictObject({
      /** Time zone of cron expressions without one. */
      timeZone: z
        .string()
        .refine((name) => name !== "" && isTimeZone(name), "no such time zone: a name as Europe/Berlin is needed")
        .default("UTC"),
      /** Catch-up policy for missed runs, unless the launch plan sets one. */
      catchUp: z.enum(["all", "last", "none"]).default("last"),
    })
    .prefault({}),
  retention: retentionSchema.prefault({}),
  abort: z
    .strictObject({
      /** Time after which an aborting execution becomes ABORTED without the engine's confirmation, seconds. */
      deadlineSeconds: z.number().positive().default(120),
    })
    .prefault({}),
  /** Reconciliation of rows with the resources in data planes, since events may be lost. */
  repair: z
    .strictObject({
      /**
       * Time without events after which an execution is reconciled with its resource, and the interval of further
       * checks; also the time after an execution's end for which the ends of its nodes and attempts may still be
       * reported. Seconds.
       */
      quietSeconds: z.number().positive().default(60),
      /** Interval between searches for such rows, seconds. */
      everySeconds: z.number().positive().default(15),
    })
    .prefault({}),
  /** Executions that run in a data plane without a row, for example after a restore of an older database backup. */
  orphans: z
    .strictObject({
      /** `abort`: orphans are stopped after some minutes. `keep`: they continue unseen. */
      action: z.enum(["abort", "keep"]).default("abort"),
    })
    .prefault({}),
  /** Settings of executions, unless request, launch plan or attributes set them. */
  executionDefaults: z
    .strictObject({
      maxParallelism: z.number().int().default(25),
      k8sServiceAccount: z.string().default(""),
      assumableIamRole: z.string().default(""),
      interruptible: z.boolean().optional(),
      overwriteCache: z.boolean().default(false),
      labels: z.record(z.string(), z.string()).default({}),
      annotations: z.record(z.string(), z.string()).default({}),
      envs: z.record(z.string(), z.string()).default({}),
    })
    .prefault({}),
  remoteData: z
    .strictObject({
      signedUrls: z
        .strictObject({
          enabled: z.boolean().default(false),
          durationMinutes: z
            .number()
            .positive()
            .max(MAX_PRESIGN_SECONDS / 60)
            .default(3),
        })
        .prefault({}),
      /** Maximum size, bytes, of inputs and outputs that are returned inline; 0 means no limit. */
      maxSizeInBytes: z
        .number()
        .int()
        .min(0)
        .default(2 * 1024 * 1024),
    })
    .prefault({}),
  dataProxy: z
    .strictObject({
      upload: z
        .strictObject({
          maxExpiresInSeconds,
          defaultFileNameLength: z.number().int().positive().default(20),
          storagePrefix: z.string().default(""),
        })
        .prefault({}),
      download: z.strictObject({ maxExpiresInSeconds }).prefault({}),
    })
    .prefault({}),
});

/** Admin's configuration. Defaults are those of Flyte 1.16 where it has the same setting. */
export const adminConfigSchema = settings
  .refine(({ server, auth }) => auth.mode === "required" || server.openToNetwork || isLoopback(server.host), {
    path: ["server", "host"],
    message:
      "nobody is asked who they are, so only a loopback address is served: set auth.mode to required and say whose tokens are accepted, " +
      "or, where everyone who reaches this address may do everything, server.openToNetwork to true",
  })
  .refine(({ auth }) => auth.mode === "open" || auth.builtIn !== undefined || auth.providers.length > 0, {
    path: ["auth", "providers"],
    message: "auth.mode is required, so at least one provider of tokens must be named, or auth.builtIn be given: {} takes all its defaults",
  })
  .refine(({ auth }) => auth.mode === "open" || auth.publicUrl !== undefined, {
    path: ["auth", "publicUrl"],
    message: "auth.mode is required, so the address at which clients reach admin must be named, as https://flyte.example.com",
  })
  .refine(({ auth }) => auth.mode === "open" || auth.publicUrl === undefined || isOrigin(auth.publicUrl), {
    path: ["auth", "publicUrl"],
    message: "sign-in is at fixed paths, so the address must be http:// or https:// and a host, without a path",
  })
  .superRefine(({ clusters, placement }, report) => {
    const known = new Set(clusters.map(({ name }) => name));
    for (const [label, entries] of Object.entries(placement.labelClusterMap)) {
      for (const [index, { id }] of entries.entries()) {
        if (known.has(id)) continue;
        report.addIssue({
          code: "custom",
          path: ["placement", "labelClusterMap", label, index, "id"],
          message: `there is no cluster ${id}`,
        });
      }
    }
    const { defaultExecutionLabel: label } = placement;
    if (label !== "" && !Object.hasOwn(placement.labelClusterMap, label)) {
      const message = `label ${label} is not in labelClusterMap`;
      report.addIssue({ code: "custom", path: ["placement", "defaultExecutionLabel"], message });
    }
  });

export type AdminConfig = z.infer<typeof adminConfigSchema>;
