import { z } from "zod";
import type { ComposeFacts, Settings, StackFacts } from "./facts.js";
import { NETWORK_PEERS, type NetworkPeer } from "./network-peers.js";

const kebabCase = z.string().regex(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/, "lower-case words joined by dashes are needed");
const port = z.int().min(1).max(65_535);
const settings = z.record(z.string(), z.unknown()).readonly();
const texts = z.array(z.string().min(1)).readonly();
const nonEmptyTexts = z.array(z.string().min(1)).min(1).readonly();

const taskType = z.string().regex(/^[A-Za-z0-9_-]+$/, "a task type is a token of a bus subject");

/** Builds the schema of a function. */
const callback = <T extends (...args: never[]) => unknown>() =>
  z.custom<T>((value) => typeof value === "function", "a function is needed").optional();

const portSchema = z.strictObject({
  /** Name of the container's port. */
  name: kebabCase,
  containerPort: port,
  /** Port of the Kubernetes Service. */
  servicePort: port,
  appProtocol: z.string().optional(),
});

const permissionSchema = z
  .strictObject({
    /** `cluster`: in every namespace. `namespace`: in the namespace of the services. */
    scope: z.enum(["cluster", "namespace"]),
    /** Empty: the core group. */
    apiGroup: z.string().default(""),
    /** Plural names, with `/subresource` where the rule is for one. */
    resources: nonEmptyTexts,
    verbs: nonEmptyTexts,
    /** Says why the service needs the rule; the generated role carries it as a comment. */
    reason: z.string().min(1),
    /**
     * Verb → the rare event that uses it. The test that observes a running stack does not expect
     * these verbs.
     */
    rareVerbs: z.record(z.string(), z.string()).default({}),
    /**
     * API group and version, such as `ray.io/v1`, of another operator's resource. The rule applies
     * where the cluster serves that version: elsewhere `flyte-ts doctor` does not check the rule.
     */
    whenServed: z
      .string()
      .regex(/^[a-z0-9.-]+\/v[a-z0-9]+$/)
      .optional(),
    /** Component of `deploy/kubernetes` that grants the rule; absent: it is always granted. */
    component: z.string().optional(),
  })
  .refine(({ verbs, rareVerbs }) => Object.keys(rareVerbs).every((verb) => verbs.includes(verb)), "rareVerbs names verbs of the rule");

const busSchema = z.strictObject({
  /** Subjects of its own messages. */
  publishes: texts.default([]),
  subscribes: texts.default([]),
  /**
   * Streams that the service creates and updates. It may not change other streams; it may read the
   * state of those in `readsStreams`.
   */
  createsStreams: texts.default([]),
  /** Reads the state of these streams beside those that it creates. */
  readsStreams: texts.default([]),
  /**
   * Durable consumers whose messages it receives; `*` stands for names that are chosen at run time.
   */
  consumes: z
    .array(z.strictObject({ stream: z.string(), durable: z.string() }).readonly())
    .readonly()
    .default([]),
});

const secretSchema = z.strictObject({
  /**
   * Environment variable. The name of one that holds a setting begins with `FLYTE_TS_` and the id
   * in capitals.
   */
  variable: z.string().regex(/^[A-Z][A-Z0-9_]*$/),
  /** Name of the Kubernetes Secret. */
  secret: kebabCase,
  key: z.string().min(1),
  optional: z.boolean().default(false),
});

const requirementsSchema = z.strictObject({
  /** A database of its own. */
  database: z
    .strictObject({
      name: z.string().min(1),
      /** Name in the local stack, if it differs. */
      stackName: z.string().optional(),
      /**
       * Position in the order of a backup. A database is saved before the databases to whose rows
       * it refers: after a restore a later one may hold facts that an earlier one lacks, never the
       * reverse.
       */
      backupPosition: z.int(),
    })
    .optional(),
  /** A user of the message bus. */
  bus: busSchema.optional(),
  /** Credentials for the blob store. */
  blobStore: z.strictObject({ presigns: z.boolean().default(false) }).optional(),
  /**
   * `own`: the cluster in which it runs, by the account of its pod. `data-planes`: clusters that
   * its settings name.
   */
  kubernetes: z.enum(["own", "data-planes"]).optional(),
  /** Calls admin as this client. */
  admin: z.strictObject({ clientId: z.string().min(1) }).optional(),
  /** Calls the data catalog as this client. */
  catalog: z.strictObject({ clientId: z.string().min(1) }).optional(),
});

const workloadSchema = z.strictObject({
  /** Name of the objects and of the service account. Default: `flyte-` and the id. */
  name: kebabCase.optional(),
  /** Text at the top of the generated file: the reason for the form of the workload. */
  comment: z.string().optional(),
  kind: z.enum(["Deployment", "StatefulSet"]).default("Deployment"),
  replicas: z.int().min(1).default(2),
  /** Replaces `replicas`. */
  autoscaling: z
    .strictObject({ minReplicas: z.int().min(1), maxReplicas: z.int().min(1), cpuUtilizationPercent: z.int().min(1).max(100) })
    .optional(),
  resources: z.strictObject({
    requests: z.strictObject({ cpu: z.string(), memory: z.string() }),
    limits: z.strictObject({ memory: z.string() }),
  }),
  /**
   * Setting, as in an environment variable without its prefix (`LEAD__NAMESPACE`) → field of the
   * pod.
   */
  podFields: z.record(z.string().regex(/^[A-Z][A-Z0-9_]*$/), z.string()).default({}),
});

/** Checks what `defineService` is given. Messages name the path of the wrong field. */
export const manifestSchema = z
  .strictObject({
    /** Every other name derives from it: see `serviceNames`. */
    id: kebabCase,
    description: z.string().min(1),
    /**
     * Decides where the service is deployed. `local`: on one machine only. `sidecar`: an image that
     * runs in pods of tasks.
     */
    plane: z.enum(["control", "data", "local", "sidecar"]),
    /** True: a deployment has the service only if it is switched on there. */
    optional: z.boolean().default(false),
    /** Task types that a plugin service runs by default; other services have none. */
    taskTypes: z.array(taskType).readonly().default([]),
    /**
     * Task types that a plugin service runs where its settings say so, and no other service does.
     * Its bus user may consume them.
     */
    configurableTaskTypes: z.array(taskType).readonly().default([]),
    image: z
      .strictObject({
        /** Default: the id. */
        name: kebabCase.optional(),
        /** Target of `deploy/images/Dockerfile`. */
        target: z.enum(["service", "cluster"]).default("service"),
      })
      .prefault({}),
    ports: z.array(portSchema).readonly().default([]),
    /**
     * Default port of health and metrics outside of containers. Absent: the program serves none.
     */
    opsPort: port.optional(),
    requires: requirementsSchema.prefault({}),
    /** Settings, beside those of its requirements, that name a peer to which it connects. */
    connects: z.record(z.string(), z.enum(Object.keys(NETWORK_PEERS) as [NetworkPeer, ...NetworkPeer[]])).default({}),
    /** `issuer`: issues tokens. `verifier`: accepts those of the issuer. */
    auth: z.enum(["issuer", "verifier"]).optional(),
    permissions: z.array(permissionSchema).readonly().default([]),
    /** Further secrets, as environment variables. */
    secrets: z.array(secretSchema).readonly().default([]),
    kubernetes: workloadSchema.optional(),
    settings: z
      .strictObject({
        /** Settings that hold in every cluster, beside those of its requirements. */
        kubernetes: settings.default({}),
        /** Settings in docker compose. */
        compose: settings.default({}),
        /** Settings in docker compose that depend on generated secrets. */
        composeSecret: callback<(facts: ComposeFacts) => Settings>(),
        /** Settings in the local stack. */
        stack: callback<(facts: StackFacts) => Settings>(),
      })
      .prefault({}),
    /** Prefix of the names of its own metrics. */
    metricsPrefix: z
      .string()
      .regex(/^flyte_[a-z_]*$/)
      .optional(),
  })
  .superRefine(({ plane, kubernetes, taskTypes, id, optional }, context) => {
    const issue = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
    const deployed = plane === "control" || plane === "data";
    if (deployed !== (kubernetes !== undefined))
      issue("kubernetes", "services of the control and data planes have a workload, others none");
    if (taskTypes.length > 0 && !id.startsWith("plugin-"))
      issue("taskTypes", "only plugin services run tasks: their ids begin with plugin-");
    if (optional && plane !== "data") issue("optional", "only services of the data plane are optional");
  });

export type ServiceManifestInput = z.input<typeof manifestSchema>;

/** Facts about one service from which deployments, the local stack and tests derive theirs. */
export type ServiceManifest = z.output<typeof manifestSchema>;
export type PermissionRule = ServiceManifest["permissions"][number];
export type BusAccess = NonNullable<ServiceManifest["requires"]["bus"]>;
