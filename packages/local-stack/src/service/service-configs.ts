import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { type LocatedService, mergeSettings, type ServiceManifest, type StackFacts as ManifestFacts } from "@flyte-ts/service-manifest";
import type { StackBlobStore } from "./blob-store.js";
import { busUrlFor } from "./bus-config.js";
import type { StackCluster } from "./cluster.js";
import type { StackCredentials } from "../state/credentials.js";
import { repositoryRoot, type StackPaths } from "../state/paths.js";
import { consoleFolder } from "../state/console-folder.js";
import { displayAddress } from "../state/display-address.js";
import { pythonInstall } from "../python/install-command.js";
import { PRELOADED_MODULES } from "../python/python-environment.js";
import { adminAuth, catalogAuth, clientSecretOf, flytekitEnv, type StackSignIn } from "./sign-in.js";

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
  /** Programs of the Python environment that all stacks share. */
  readonly sharedPythonBin: string;
  readonly logLevel: string;
  /** Run services from their bundles. */
  readonly bundles: boolean;
  /** Replicas of propeller. */
  readonly propellers: number;
  /** Undefined: no sign-in. */
  readonly signIn: StackSignIn | undefined;
  /** Services of the control and data planes. */
  readonly services: readonly LocatedService[];
}

/**
 * Names of a service's replicas: propeller runs in several, which are counted from the second on.
 */
export function replicaNames(id: string, propellers: number): readonly string[] {
  if (id !== "propeller") return [id];
  return Array.from({ length: propellers }, (_, index) => (index === 0 ? id : `${id}-${index + 1}`));
}

/**
 * Infrastructure services, the cluster and the blob store: they depend on nothing, start first and
 * stop last.
 */
export function infrastructureServices(stack: StackContext): ServiceConfig[] {
  const { blobs, cluster } = stack;
  return [...(blobs.managed ? [blobStoreService(stack)] : []), ...(cluster.hasNodes ? [] : [nodeService(stack)])];
}

/**
 * Configuration of the services that depend on servers, cluster and blob store. Prefixes are those
 * of Flyte's sandbox.
 */
export function applicationServices(stack: StackContext, servers: Servers): ServiceConfig[] {
  return stack.services.flatMap((service) => {
    const replicas = replicaNames(service.manifest.id, stack.propellers);
    return replicas.map((name) => ({
      name,
      program: programOf(stack, service.folder),
      config: settingsOf(stack, { service: service.manifest, name, replicas: replicas.length, servers }),
    }));
  });
}

interface Replica {
  readonly service: ServiceManifest;
  readonly name: string;
  readonly replicas: number;
  readonly servers: Servers;
}

/** Settings for the requirements of a service, merged with those of its manifest. */
function settingsOf(stack: StackContext, { service, name, replicas, servers }: Replica): object {
  const { endpoints, cluster, blobs, logLevel, signIn, credentials } = stack;
  const { database, bus, blobStore, kubernetes, admin, catalog } = service.requires;
  const { bucket: _, managed: __, ...s3 } = blobs;
  const required = {
    logLevel,
    ops: opsSettings(stack, name),
    ...(database && { database: { url: new URL(`/${database.stackName ?? database.name}`, servers.databaseUrl).href } }),
    ...(bus && { nats: { url: busUrlFor(service.id, { url: servers.natsUrl, passwords: credentials.bus }) } }),
    ...(blobStore && { storage: { s3: blobStore.presigns ? { ...s3, publicEndpoint: displayAddress(s3.endpoint) } : s3 } }),
    ...(kubernetes === "own" && { kubernetes: { kubeconfig: cluster.kubeconfig } }),
    ...(admin && {
      admin: { endpoint: `${endpoints.host}:${endpoints.api}`, ...(signIn && { auth: clientSecretOf(signIn, admin.clientId) }) },
    }),
    ...(catalog && {
      catalog: {
        endpoint: `127.0.0.1:${endpoints.catalog}`,
        ...(signIn && { auth: { ...clientSecretOf(signIn, catalog.clientId), tokenEndpoint: `${signIn.publicUrl}/oauth2/token` } }),
      },
    }),
    ...(signIn && service.auth && { auth: service.auth === "issuer" ? adminAuth(signIn) : catalogAuth(signIn) }),
  };
  return mergeSettings(required, service.settings.stack?.(manifestFacts(stack, { service, replicas })) ?? {});
}

/** Facts that manifests turn into settings. */
function manifestFacts(stack: StackContext, { service, replicas }: Pick<Replica, "service" | "replicas">): ManifestFacts {
  const { endpoints, cluster, blobs, signIn } = stack;
  return {
    host: endpoints.host,
    apiPort: endpoints.api,
    catalogPort: endpoints.catalog,
    kubeconfig: cluster.kubeconfig,
    runsPods: !cluster.hasNodes,
    bucket: blobs.bucket,
    consoleFolder: consoleFolder(),
    blobOrigin: new URL(displayAddress(blobs.endpoint)).origin,
    signIn: signIn !== undefined,
    replicas,
    // Without a dashboard: the log at the cluster's API, readable in a browser of this machine.
    podLogUri: `${cluster.logUrl}/api/v1/namespaces/{{ .namespace }}/pods/{{ .podName }}/log`,
    podEnvironment: podEnv(stack),
    // Pods that are local processes run copilot as a local process too.
    copilotCommand: [process.execPath, programOf(stack, localService("copilot"))],
    otherTaskTypes: stack.services.flatMap(({ manifest }) => (manifest.id === service.id ? [] : manifest.taskTypes)),
    pythonInstall: pythonInstall(stack.folders.root, process.env),
  };
}

function blobStoreService(stack: StackContext): ServiceConfig {
  const { endpoints, blobs, folders, logLevel } = stack;
  const { accessKeyId, secretAccessKey, bucket } = blobs;
  const name = "local-blobstore";
  const place = { host: endpoints.host, port: endpoints.blobs, dataDir: folders.blobs };
  // The API's address serves the console.
  const hosts = new Set([endpoints.host, "localhost", "127.0.0.1"]);
  const allowedOrigins = [...hosts].map((host) => `http://${host.includes(":") ? `[${host}]` : host}:${endpoints.api}`);
  const config = { logLevel, ops: opsSettings(stack, name), ...place, accessKeyId, secretAccessKey, buckets: [bucket], allowedOrigins };
  return { name, program: programOf(stack, localService(name)), config };
}

/**
 * For pods that are local processes: a task and its copilot have the same user, and no other user
 * may read their files.
 */
const SINGLE_USER_ENV = { FLYTE_COPILOT_UMASK: "077" };

/**
 * The service that makes this machine the node: the local cluster, or a runner of another cluster's
 * pods.
 */
function nodeService(stack: StackContext): ServiceConfig {
  const { endpoints, cluster, folders, sharedPythonBin, logLevel } = stack;
  const folder = localService("local-cluster");
  // Kill pods on shutdown; interrupted tasks are recreated as after a lost machine.
  const pods = {
    // The stack's own environment comes first, and may be created while the stack runs. TypeScript
    // tasks run by `flyte-ts-execute` and this program's Node.js.
    podPath: [join(folders.python, "bin"), sharedPythonBin, taskRuntimeBin, dirname(process.execPath)],
    podsOnStop: "kill",
    podEnv: { ...podEnv(stack), ...SINGLE_USER_ENV, FLYTE_TS_BUNDLE_CACHE: folders.bundles },
    warmPython: { ahead: true, modules: PRELOADED_MODULES },
  };
  if (cluster.managed) {
    const { clusterToken: token, clusterLogToken: logToken } = stack.credentials;
    const access = { access: "token", token, logToken };
    const config = { logLevel, port: endpoints.cluster, ...access, dataDir: folders.cluster, kubeconfig: cluster.kubeconfig, ...pods };
    return { name: "local-cluster", program: programOf(stack, folder), readyPort: endpoints.cluster, config };
  }
  const kubernetes = { kubeconfig: cluster.kubeconfig };
  const config = { logLevel, ops: opsSettings(stack, "node-runner"), kubernetes, dataDir: folders.cluster, ...pods };
  return { name: "node-runner", program: programOf(stack, folder, "node-runner/main.js"), config };
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

/** Folder of `flyte-ts-execute`. */
const taskRuntimeBin = join(repositoryRoot, "packages", "sdk-runtime", "bin");

/** Folder of a service's package in this repository. */
const localService = (name: string): string => join(repositoryRoot, "services", name);

/** A program of a service. Packages outside of the repository may have no bundle. */
function programOf({ bundles }: StackContext, folder: string, main = "main.js"): string {
  const bundle = join(folder, "bundle", main);
  return bundles && existsSync(bundle) ? bundle : join(folder, "dist", main);
}

/** Health and metrics listen on loopback only. */
function opsSettings({ endpoints }: StackContext, name: string): { host: string; port: number } {
  return { host: "127.0.0.1", port: endpoints.ops[name] as number };
}
