import { MAX_SIGNED_SECONDS } from "@flyte-ts/blobstore";
import { isTimeZone } from "@flyte-ts/domain";
import {
  databaseSettings,
  drainSettings,
  httpPolicySettings,
  isLoopback,
  logLevel,
  natsSettings,
  opsSettings,
  port,
  signingBlobStoreSettings,
  tracingSettings,
} from "@flyte-ts/config";
import { z } from "zod";
import { retentionSchema } from "./retention/config-schema.js";
import { authSchema, isOrigin } from "./access/config-schema.js";
import { clusterResourcesSchema } from "./cluster-resource/config-schema.js";
import { clusterHealthSchema, clustersSchema, placementSchema } from "./cluster/config-schema.js";
import { triggersSchema } from "./trigger/config-schema.js";
import { notificationsSchema } from "./notification/config-schema.js";

/** Kubernetes quantities by resource; an empty string or absence means: none. */
const resources = z.strictObject({
  cpu: z.string().default(""),
  memory: z.string().default(""),
  ephemeralStorage: z.string().default(""),
  gpu: z.string().default(""),
});

/** Of GPUs a limit is always what is requested: Kubernetes accepts nothing else. */
const defaultLimits = resources.omit({ gpu: true });

/** Seconds; no store signs for longer than a week. */
const maxExpiresInSeconds = z.number().positive().max(MAX_SIGNED_SECONDS).default(3600);

const settings = z.strictObject({
  /** Spans of calls, over OTLP/HTTP: those about an execution belong to its trace. */
  tracing: tracingSettings,
  auth: authSchema.prefault({}),
  notifications: notificationsSchema,
  triggers: triggersSchema,
  logLevel,
  server: z
    .strictObject({
      host: z.string().default("127.0.0.1"),
      /** gRPC. */
      grpcPort: port.default(8089),
      /** REST and, for clients that use one address for both, gRPC. */
      httpPort: port.default(8088),
      /** Largest request, bytes. A graph of 100,000 nodes has about 10 MB; Flyte takes 4 MiB unless it is told otherwise. */
      maxMessageBytes: z
        .number()
        .int()
        .positive()
        .default(64 * 1024 * 1024),
      ...httpPolicySettings,
      /** The ports take TLS only. */
      tls: z
        .strictObject({
          /** PEM: the certificate, and those between it and its root. */
          certFile: z.string().min(1),
          /** PEM. */
          keyFile: z.string().min(1),
          /** How often it is looked whether the files have changed: a certificate that was renewed needs no restart. */
          reloadSeconds: z.number().positive().max(86_400).default(60),
        })
        .optional(),
      /** With `auth.mode: open` callers are not asked who they are; beyond this machine that must be wanted. */
      openToNetwork: z.boolean().default(false),
      drain: drainSettings,
    })
    .prefault({}),
  ops: opsSettings(10254),
  database: databaseSettings({ name: "flyteadmin", maxConnections: 20 }),
  nats: natsSettings,
  storage: z
    .strictObject({
      /** Where metadata goes: `s3://bucket`, `gs://bucket`, `abfs://container` or `file:///folder`. */
      container: z.string().default("s3://my-s3-bucket"),
      /** Prefix of admin's own objects in the container. */
      metadataPrefix: z.string().default("metadata"),
      /** Prefix of what propeller writes per execution. */
      propellerPrefix: z.string().default("metadata/propeller"),
      /** Where tasks write what is larger than a literal, unless the request says otherwise. */
      rawOutputPrefix: z.string().default("s3://my-s3-bucket/data"),
      ...signingBlobStoreSettings,
    })
    .prefault({}),
  clusters: clustersSchema,
  placement: placementSchema.prefault({}),
  clusterHealth: clusterHealthSchema.prefault({}),
  clusterResources: clusterResourcesSchema.prefault({}),
  /** Connectors that clients can ask admin about. */
  agents: z
    .strictObject({
      /** `host:port` in plaintext, `https://host:port` over TLS. */
      endpoints: z.array(z.string().min(1)).default([]),
      /** How long one connector may take to say what it runs. */
      timeoutMs: z.number().int().positive().default(5_000),
    })
    .prefault({}),
  /** Created at start when they are missing. */
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
       * Least limits of containers that name none, within `limits`: with a CPU limit above the default request a task
       * uses what would stand idle. Without one the limit is what is requested, as in Flyte.
       */
      defaultLimits: defaultLimits.optional(),
      limits: resources.prefault({ cpu: "2", memory: "1Gi", gpu: "1" }),
    })
    .prefault({}),
  registration: z
    .strictObject({
      /** Nodes of one workflow; 0 means no limit. */
      maxWorkflowNodes: z.number().int().min(0).default(100),
      /** Labels and annotations of one launch plan or execution; 0 means no limit. */
      maxLabelEntries: z.number().int().min(0).default(0),
      maxAnnotationEntries: z.number().int().min(0).default(0),
      /** Size of one compiled workflow, bytes; 0 means no limit. */
      workflowSizeLimit: z.number().int().min(0).default(0),
      /** Node instances of one workflow when all its sub-workflows are expanded, checked at registration and launch; 0 means no limit. */
      maxWorkflowInstances: z.number().int().min(0).default(200_000),
      /** How deep sub-workflows may stand in one another, the workflow itself included; 0 means no limit. */
      maxWorkflowDepth: z.number().int().min(0).default(100),
      /** Task type → where tasks of it may be registered; an empty project or domain stands for all. Types that are not named may be everywhere. */
      taskTypeWhitelist: z
        .record(z.string(), z.array(z.strictObject({ project: z.string().default(""), domain: z.string().default("") })))
        .default({}),
    })
    .prefault({}),
  /** Streams of what happens. */
  live: z
    .strictObject({
      /** Streams of one replica; one more is refused. */
      maxStreams: z.number().int().positive().default(20_000),
      /** Beside them, streams of logs: each has a connection to a data plane. */
      maxLogStreams: z.number().int().positive().default(500),
      /** A watched execution is looked at so often though nobody told of a change: who told may have been lost. */
      pollSeconds: z.number().positive().default(10),
      /** Clients hear something at least so often. */
      heartbeatSeconds: z.number().positive().default(30),
      /** When an execution has ended, the ends of its nodes and attempts are waited for so long. */
      lingerSeconds: z.number().min(0).default(5),
    })
    .prefault({}),
  schedules: z
    .strictObject({
      /** Time zone of cron expressions that name none. */
      timeZone: z
        .string()
        .refine((name) => name !== "" && isTimeZone(name), "no such time zone: a name as Europe/Berlin is needed")
        .default("UTC"),
      /** Which missed runs are made up for where the launch plan does not say so. */
      catchUp: z.enum(["all", "last", "none"]).default("last"),
    })
    .prefault({}),
  retention: retentionSchema.prefault({}),
  abort: z
    .strictObject({
      /** How long an abort waits for the engine's word; then the execution is ABORTED without it, seconds. */
      deadlineSeconds: z.number().positive().default(120),
    })
    .prefault({}),
  /** Rows that are compared with what data planes hold, because events may have been lost. */
  repair: z
    .strictObject({
      /**
       * An execution is compared with its resource when no event of it came for so long, and then as often. The ends of its nodes and
       * attempts have as long, after its own, to be reported. Seconds.
       */
      quietSeconds: z.number().positive().default(60),
      /** Pause between two looks for such rows, seconds. */
      everySeconds: z.number().positive().default(15),
    })
    .prefault({}),
  /** Executions that run in a data plane and have no row, as after a restore of the database to an older point. */
  orphans: z
    .strictObject({
      /** `abort`: they are stopped when nobody has known them for some minutes. `keep`: they run on unseen. */
      action: z.enum(["abort", "keep"]).default("abort"),
    })
    .prefault({}),
  /** What an execution gets when neither request, launch plan nor attributes say so. */
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
            .max(MAX_SIGNED_SECONDS / 60)
            .default(3),
        })
        .prefault({}),
      /** Inputs and outputs up to this size come inline, bytes; 0 means no limit. */
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
