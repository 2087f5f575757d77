import { join } from "node:path";
import type { StackBlobStore } from "./blob-store.js";
import { type BusUser, busUrlFor } from "./bus-config.js";
import type { StackCluster } from "./cluster.js";
import type { StackCredentials } from "../state/credentials.js";
import { repositoryRoot, type StackPaths } from "../state/paths.js";
import { displayAddress } from "../state/display-address.js";
import { PRELOADED_MODULES } from "../python/python-environment.js";
import { adminAuth, catalogAuth, clientCredentials, flytekitEnv, type StackSignIn } from "./sign-in.js";

/** Addresses of the parts of a running stack. */
export interface Endpoints {
  /** Address of the API and the blob store. */
  readonly host: string;
  readonly api: number;
  /** Port of the local blob store; unused when another one is configured. */
  readonly blobs: number;
  readonly cluster: number;
  /** gRPC port of the data catalog: only propeller calls it. */
  readonly catalog: number;
  /** Port of health and metrics of each service. */
  readonly ops: Readonly<Record<string, number>>;
}

/** The servers that services use. */
interface Servers {
  readonly databaseUrl: string;
  /** Without user and password. */
  readonly natsUrl: string;
}

export interface ServiceConfig {
  readonly name: string;
  readonly program: string;
  /** Port of /readyz, unless it is the service's own in `Endpoints.ops`. */
  readonly readyPort?: number;
  /** Content of the service's configuration file. */
  readonly config: object;
}

interface StackContext {
  readonly credentials: StackCredentials;
  readonly endpoints: Endpoints;
  readonly cluster: StackCluster;
  readonly blobs: StackBlobStore;
  readonly folders: StackPaths;
  /** Folder of pyflyte-execute. */
  /** Programs of the Python environment that all stacks share. */
  readonly sharedPythonBin: string;
  readonly logLevel: string;
  /** Run services from their bundles. */
  readonly bundles: boolean;
  /** Replicas of propeller. */
  readonly propellers: number;
  /** Undefined: no sign-in. */
  readonly signIn: StackSignIn | undefined;
}

/** Name of a propeller replica, counted from 0. */
export function propellerName(index: number): string {
  return index === 0 ? "propeller" : `propeller-${index + 1}`;
}

/** Infrastructure services, the cluster and the blob store: they depend on nothing, start first and stop last. */
export function infrastructureServices(stack: StackContext): ServiceConfig[] {
  const { blobs, cluster } = stack;
  return [...(blobs.managed ? [blobStoreService(stack)] : []), ...(cluster.hasNodes ? [] : [nodeService(stack)])];
}

/** Configuration of the services that depend on servers, cluster and blob store. Prefixes are those of Flyte's sandbox. */
export function applicationServices(stack: StackContext, { databaseUrl, natsUrl }: Servers): ServiceConfig[] {
  const { endpoints, cluster, blobs, logLevel, propellers, signIn } = stack;
  const ops = opsSettingsOf(stack);
  const program = programsOf(stack);
  const { bucket, managed: _, ...s3 } = blobs;
  const signing = { ...s3, publicEndpoint: displayAddress(s3.endpoint) };
  // Without a dashboard: the log at the cluster's API, readable in a browser of this machine.
  const podLog = `${cluster.logUrl}/api/v1/namespaces/{{ .namespace }}/pods/{{ .podName }}/log`;
  const natsFor = (user: BusUser) => ({ url: busUrlFor(user, { url: natsUrl, passwords: stack.credentials.bus }) });
  const kubernetes = { kubeconfig: cluster.kubeconfig };
  const adminFor = (clientId: string) => ({
    endpoint: `${endpoints.host}:${endpoints.api}`,
    ...(signIn && { auth: clientCredentials(signIn, clientId) }),
  });
  return [
    {
      name: "admin",
      program: program("admin"),
      config: {
        logLevel,
        ops: ops("admin"),
        server: {
          host: endpoints.host,
          grpcPort: endpoints.api,
          httpPort: endpoints.api,
          // A stack for a cluster's pods without sign-in is open to the network.
          ...(cluster.hasNodes && signIn === undefined ? { openToNetwork: true } : {}),
        },
        database: { url: databaseUrl },
        nats: natsFor("admin"),
        storage: { container: `s3://${bucket}`, s3: signing },
        clusters: [{ name: "local", kubeconfig: cluster.kubeconfig }],
        // A task alone on its node may use all idle processors.
        taskResources: {
          defaults: { cpu: "500m", memory: "500Mi" },
          defaultLimits: { cpu: "4" },
          limits: { cpu: "4", memory: "4Gi", gpu: "1" },
        },
        registration: { maxWorkflowNodes: 100_000 },
        ...(signIn && { auth: adminAuth(signIn) }),
      },
    },
    {
      name: "datacatalog",
      program: program("datacatalog"),
      config: {
        logLevel,
        ops: ops("datacatalog"),
        server: { host: "127.0.0.1", grpcPort: endpoints.catalog },
        database: { url: new URL("/datacatalog", databaseUrl).href },
        storage: { container: `s3://${bucket}`, s3 },
        ...(signIn && { auth: catalogAuth(signIn) }),
      },
    },
    {
      name: "scheduler",
      program: program("scheduler"),
      config: {
        logLevel,
        ops: ops("scheduler"),
        database: { url: new URL("/scheduler", databaseUrl).href },
        admin: adminFor("flytescheduler"),
      },
    },
    ...Array.from({ length: propellers }, (_, index) => ({
      name: propellerName(index),
      program: program("propeller"),
      config: {
        logLevel,
        ops: ops(propellerName(index)),
        nats: natsFor("propeller"),
        kubernetes,
        catalog: {
          endpoint: `127.0.0.1:${endpoints.catalog}`,
          ...(signIn && { auth: { ...clientCredentials(signIn, "flytepropeller"), tokenEndpoint: `${signIn.publicUrl}/oauth2/token` } }),
        },
        admin: adminFor("flytepropeller"),
        // Users look at recent runs; a laptop need not keep a day of them.
        garbageCollector: { ttlMinutes: 120, intervalMs: 300_000 },
        // A single propeller only has to survive its own restart: it starts when its predecessor is dead. The lease may
        // therefore be long: a machine that is busy with a huge graph may delay renewals by seconds.
        ...(propellers === 1 ? { shards: { slot: "propeller", leaseMs: 60_000 } } : {}),
        storage: { metadataPrefix: `s3://${bucket}/metadata/propeller`, rawOutputPrefix: `s3://${bucket}/data`, s3 },
      },
    })),
    {
      name: "plugin-pod",
      program: program("plugins/pod"),
      config: {
        logLevel,
        ops: ops("plugin-pod"),
        nats: natsFor("plugin-pod"),
        kubernetes,
        storage: { s3 },
        logLinks: [{ name: "Kubernetes Logs", uris: [podLog] }],
        // As the node, this machine sets these for its pods itself, and their copilot is a local process as they are.
        pods: cluster.hasNodes ? { environment: { env: podEnv(stack) } } : { copilot: { command: [process.execPath, program("copilot")] } },
      },
    },
    { name: "plugin-echo", program: program("plugins/echo"), config: { logLevel, ops: ops("plugin-echo"), nats: natsFor("plugin-echo") } },
  ];
}

function blobStoreService(stack: StackContext): ServiceConfig {
  const { endpoints, blobs, folders, logLevel } = stack;
  const { accessKeyId, secretAccessKey, bucket } = blobs;
  const name = "local-blobstore";
  const place = { host: endpoints.host, port: endpoints.blobs, dataDir: folders.blobs };
  // The API's address serves the console.
  const hosts = new Set([endpoints.host, "localhost", "127.0.0.1"]);
  const allowedOrigins = [...hosts].map((host) => `http://${host.includes(":") ? `[${host}]` : host}:${endpoints.api}`);
  const config = { logLevel, ops: opsSettingsOf(stack)(name), ...place, accessKeyId, secretAccessKey, buckets: [bucket], allowedOrigins };
  return { name, program: programsOf(stack)(name), config };
}

/** For pods that are local processes: a task and its copilot have the same user, and no other user may read their files. */
const SINGLE_USER_ENV = { FLYTE_COPILOT_UMASK: "077" };

/** The service that makes this machine the node: the local cluster, or a runner of another cluster's pods. */
function nodeService(stack: StackContext): ServiceConfig {
  const { endpoints, cluster, folders, sharedPythonBin, logLevel } = stack;
  const program = programsOf(stack);
  // Kill pods on shutdown; interrupted tasks are recreated as after a lost machine.
  const pods = {
    // The stack's own environment comes first, and may be created while the stack runs.
    podPath: [join(folders.python, "bin"), sharedPythonBin],
    podsOnStop: "kill",
    podEnv: { ...podEnv(stack), ...SINGLE_USER_ENV },
    warmPython: { ahead: true, modules: PRELOADED_MODULES },
  };
  if (cluster.managed) {
    const { clusterToken: token, clusterLogToken: logToken } = stack.credentials;
    const access = { access: "token", token, logToken };
    const config = { logLevel, port: endpoints.cluster, ...access, dataDir: folders.cluster, kubeconfig: cluster.kubeconfig, ...pods };
    return { name: "local-cluster", program: program("local-cluster"), readyPort: endpoints.cluster, config };
  }
  const kubernetes = { kubeconfig: cluster.kubeconfig };
  const config = { logLevel, ops: opsSettingsOf(stack)("node-runner"), kubernetes, dataDir: folders.cluster, ...pods };
  return { name: "node-runner", program: program("local-cluster", "node-runner/main.js"), config };
}

/** Environment variables of every pod. */
function podEnv({ endpoints, blobs, signIn }: StackContext): Readonly<Record<string, string>> {
  return {
    FLYTE_AWS_ENDPOINT: blobs.endpoint,
    FLYTE_AWS_ACCESS_KEY_ID: blobs.accessKeyId,
    FLYTE_AWS_SECRET_ACCESS_KEY: blobs.secretAccessKey,
    // Eager tasks start executions themselves.
    FLYTE_PLATFORM_URL: `${endpoints.host}:${endpoints.api}`,
    FLYTE_PLATFORM_INSECURE: "true",
    ...(signIn && flytekitEnv(signIn)),
  };
}

function programsOf({ bundles }: StackContext): (folder: string, main?: string) => string {
  return (folder, main = "main.js") => join(repositoryRoot, "services", folder, bundles ? "bundle" : "dist", main);
}

/** Health and metrics listen on loopback only. */
function opsSettingsOf({ endpoints }: StackContext): (name: string) => { host: string; port: number } {
  return (name) => ({ host: "127.0.0.1", port: endpoints.ops[name] as number });
}
