import { join } from "node:path";
import type { StackBlobs } from "./blobs.js";
import { type BusUser, busUrlFor } from "./bus.js";
import type { StackCluster } from "./cluster.js";
import type { StackCredentials } from "./credentials.js";
import { repositoryRoot, type StackFolders } from "./paths.js";
import { publicAddress } from "./public-address.js";
import { MODULES_AHEAD } from "./python-environment.js";
import { adminAuth, catalogAuth, credentialsOf, flytekitEnv, type StackSignIn } from "./sign-in.js";

/** Where the parts of a running stack listen. */
export interface Endpoints {
  /** Address of the API and the blob store. */
  readonly host: string;
  readonly api: number;
  /** Of the local blob store; nobody listens there when another is used. */
  readonly blobs: number;
  readonly cluster: number;
  /** gRPC of the data catalog: only propeller asks it. */
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
  /** Port of /readyz, when it is not the service's own in `Endpoints.ops`. */
  readonly readyPort?: number;
  /** Content of the service's configuration file. */
  readonly config: object;
}

interface StackFacts {
  readonly credentials: StackCredentials;
  readonly endpoints: Endpoints;
  readonly cluster: StackCluster;
  readonly blobs: StackBlobs;
  readonly folders: StackFolders;
  /** Folder of pyflyte-execute. */
  /** Programs of the Python environment that all stacks share. */
  readonly sharedPythonBin: string;
  readonly logLevel: string;
  /** Run services from their bundles. */
  readonly bundles: boolean;
  /** Replicas of propeller. */
  readonly propellers: number;
  /** Undefined: nobody is asked. */
  readonly signIn: StackSignIn | undefined;
}

/** Name of a replica of propeller, counted from 0. */
export function propellerName(index: number): string {
  return index === 0 ? "propeller" : `propeller-${index + 1}`;
}

/** What the others stand on, the cluster and the blob store: it needs nothing, starts before them and ends after them. */
export function groundConfigs(facts: StackFacts): ServiceConfig[] {
  const { blobs, cluster } = facts;
  return [...(blobs.own ? [blobService(facts)] : []), ...(cluster.hasNodes ? [] : [nodeService(facts)])];
}

/** The configuration of the services that stand on servers, cluster and blob store. Prefixes are those of Flyte's sandbox. */
export function userConfigs(facts: StackFacts, { databaseUrl, natsUrl }: Servers): ServiceConfig[] {
  const { endpoints, cluster, blobs, logLevel, propellers, signIn } = facts;
  const ops = opsOf(facts);
  const program = programsOf(facts);
  const { bucket, own: _, ...s3 } = blobs;
  const signing = { ...s3, publicEndpoint: publicAddress(s3.endpoint) };
  // Without a dashboard: the log as the cluster's API shows it, readable in a browser of this machine.
  const podLog = `${cluster.logUrl}/api/v1/namespaces/{{ .namespace }}/pods/{{ .podName }}/log`;
  const natsFor = (user: BusUser) => ({ url: busUrlFor(user, { url: natsUrl, passwords: facts.credentials.bus }) });
  const kubernetes = { kubeconfig: cluster.kubeconfig };
  const adminFor = (clientId: string) => ({
    endpoint: `${endpoints.host}:${endpoints.api}`,
    ...(signIn && { auth: credentialsOf(signIn, clientId) }),
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
          // Who starts a stack for a cluster's pods without sign-in opens it to them.
          ...(cluster.hasNodes && signIn === undefined ? { openToNetwork: true } : {}),
        },
        database: { url: databaseUrl },
        nats: natsFor("admin"),
        storage: { container: `s3://${bucket}`, s3: signing },
        clusters: [{ name: "local", kubeconfig: cluster.kubeconfig }],
        // On a node of its own a task may use the processors that stand idle.
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
          ...(signIn && { auth: { ...credentialsOf(signIn, "flytepropeller"), tokenEndpoint: `${signIn.publicUrl}/oauth2/token` } }),
        },
        admin: adminFor("flytepropeller"),
        // People look at what has just run; a laptop need not keep a day of it.
        garbageCollector: { ttlMinutes: 120, intervalMs: 300_000 },
        // What one propeller must outlive is its own restart: it begins only when the one before is dead. For that
        // reason the lease may be long: a machine that is busy with a huge graph may keep it from renewing for seconds.
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
        // Where this machine is the node it gives its pods these itself, and their copilot is a process of it as they are.
        pods: cluster.hasNodes ? { environment: { env: podEnv(facts) } } : { copilot: { command: [process.execPath, program("copilot")] } },
      },
    },
    { name: "plugin-echo", program: program("plugins/echo"), config: { logLevel, ops: ops("plugin-echo"), nats: natsFor("plugin-echo") } },
  ];
}

function blobService(facts: StackFacts): ServiceConfig {
  const { endpoints, blobs, folders, logLevel } = facts;
  const { accessKeyId, secretAccessKey, bucket } = blobs;
  const name = "local-blobstore";
  const place = { host: endpoints.host, port: endpoints.blobs, dataDir: folders.blobs };
  // The console is at the API's address.
  const hosts = new Set([endpoints.host, "localhost", "127.0.0.1"]);
  const allowedOrigins = [...hosts].map((host) => `http://${host.includes(":") ? `[${host}]` : host}:${endpoints.api}`);
  const config = { logLevel, ops: opsOf(facts)(name), ...place, accessKeyId, secretAccessKey, buckets: [bucket], allowedOrigins };
  return { name, program: programsOf(facts)(name), config };
}

/** For pods that are processes of this machine: tasks and their copilot are one user, and files between them are for no other. */
const ONE_USER = { FLYTE_COPILOT_UMASK: "077" };

/** What makes this machine the node: the small cluster, or a runner of another cluster's pods. */
function nodeService(facts: StackFacts): ServiceConfig {
  const { endpoints, cluster, folders, sharedPythonBin, logLevel } = facts;
  const program = programsOf(facts);
  // Who ends the stack wants nothing left; a task that ran is made again as after a lost machine.
  const pods = {
    // The own environment of the stack comes first, and may be made while the stack runs.
    podPath: [join(folders.python, "bin"), sharedPythonBin],
    podsOnStop: "kill",
    podEnv: { ...podEnv(facts), ...ONE_USER },
    warmPython: { ahead: true, modules: MODULES_AHEAD },
  };
  if (cluster.own) {
    const { clusterToken: token, clusterLogToken: logToken } = facts.credentials;
    const access = { access: "token", token, logToken };
    const config = { logLevel, port: endpoints.cluster, ...access, dataDir: folders.cluster, kubeconfig: cluster.kubeconfig, ...pods };
    return { name: "local-cluster", program: program("local-cluster"), readyPort: endpoints.cluster, config };
  }
  const kubernetes = { kubeconfig: cluster.kubeconfig };
  const config = { logLevel, ops: opsOf(facts)("node-runner"), kubernetes, dataDir: folders.cluster, ...pods };
  return { name: "node-runner", program: program("local-cluster", "node-runner/main.js"), config };
}

/** What every pod finds in its environment. */
function podEnv({ endpoints, blobs, signIn }: StackFacts): Readonly<Record<string, string>> {
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

function programsOf({ bundles }: StackFacts): (folder: string, main?: string) => string {
  return (folder, main = "main.js") => join(repositoryRoot, "services", folder, bundles ? "bundle" : "dist", main);
}

/** Health and metrics are for this machine alone. */
function opsOf({ endpoints }: StackFacts): (name: string) => { host: string; port: number } {
  return (name) => ({ host: "127.0.0.1", port: endpoints.ops[name] as number });
}
