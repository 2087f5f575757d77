import { existsSync } from "node:fs";
import { join } from "node:path";
import { type LocatedService, mergeSettings, type ServiceManifest, type StackFacts as ManifestFacts } from "@flyte-ts/service-manifest";
import type { StackBlobs } from "./blobs.js";
import { busUrlFor } from "./bus.js";
import type { StackCluster } from "./cluster.js";
import type { StackCredentials } from "./credentials.js";
import { repositoryRoot, type StackFolders } from "./paths.js";
import { publicAddress } from "./public-address.js";
import { MODULES_AHEAD } from "./python-environment.js";
import { adminAuth, catalogAuth, credentialsOf, flytekitEnv, type StackSignIn } from "./sign-in.js";

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

interface StackFacts {
  readonly credentials: StackCredentials;
  readonly endpoints: Endpoints;
  readonly cluster: StackCluster;
  readonly blobs: StackBlobs;
  readonly folders: StackFolders;
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

/** Names of a service's replicas: propeller runs in several, which are counted from the second on. */
export function replicaNames(id: string, propellers: number): readonly string[] {
  if (id !== "propeller") return [id];
  return Array.from({ length: propellers }, (_, index) => (index === 0 ? id : `${id}-${index + 1}`));
}

/** Infrastructure services, the cluster and the blob store: they depend on nothing, start first and stop last. */
export function groundConfigs(facts: StackFacts): ServiceConfig[] {
  const { blobs, cluster } = facts;
  return [...(blobs.own ? [blobService(facts)] : []), ...(cluster.hasNodes ? [] : [nodeService(facts)])];
}

/** Configuration of the services that depend on servers, cluster and blob store. Prefixes are those of Flyte's sandbox. */
export function userConfigs(facts: StackFacts, servers: Servers): ServiceConfig[] {
  return facts.services.flatMap((service) => {
    const replicas = replicaNames(service.manifest.id, facts.propellers);
    return replicas.map((name) => ({
      name,
      program: programOf(facts, service.folder),
      config: settingsOf(facts, { service: service.manifest, name, replicas: replicas.length, servers }),
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
function settingsOf(facts: StackFacts, { service, name, replicas, servers }: Replica): object {
  const { endpoints, cluster, blobs, logLevel, signIn, credentials } = facts;
  const { database, bus, blobStore, kubernetes, admin, catalog } = service.requires;
  const { bucket: _, own: __, ...s3 } = blobs;
  const required = {
    logLevel,
    ops: opsOf(facts)(name),
    ...(database && { database: { url: new URL(`/${database.stackName ?? database.name}`, servers.databaseUrl).href } }),
    ...(bus && { nats: { url: busUrlFor(service.id, { url: servers.natsUrl, passwords: credentials.bus }) } }),
    ...(blobStore && { storage: { s3: blobStore.presigns ? { ...s3, publicEndpoint: publicAddress(s3.endpoint) } : s3 } }),
    ...(kubernetes === "own" && { kubernetes: { kubeconfig: cluster.kubeconfig } }),
    ...(admin && {
      admin: { endpoint: `${endpoints.host}:${endpoints.api}`, ...(signIn && { auth: credentialsOf(signIn, admin.clientId) }) },
    }),
    ...(catalog && {
      catalog: {
        endpoint: `127.0.0.1:${endpoints.catalog}`,
        ...(signIn && { auth: { ...credentialsOf(signIn, catalog.clientId), tokenEndpoint: `${signIn.publicUrl}/oauth2/token` } }),
      },
    }),
    ...(signIn && service.auth && { auth: service.auth === "issuer" ? adminAuth(signIn) : catalogAuth(signIn) }),
  };
  return mergeSettings(required, service.settings.stack?.(manifestFacts(facts, replicas)) ?? {});
}

/** Facts that manifests turn into settings. */
function manifestFacts(facts: StackFacts, replicas: number): ManifestFacts {
  const { endpoints, cluster, blobs, signIn } = facts;
  return {
    host: endpoints.host,
    apiPort: endpoints.api,
    catalogPort: endpoints.catalog,
    kubeconfig: cluster.kubeconfig,
    runsPods: !cluster.hasNodes,
    bucket: blobs.bucket,
    signIn: signIn !== undefined,
    replicas,
    // Without a dashboard: the log at the cluster's API, readable in a browser of this machine.
    podLogUri: `${cluster.logUrl}/api/v1/namespaces/{{ .namespace }}/pods/{{ .podName }}/log`,
    podEnvironment: podEnv(facts),
    // Pods that are local processes run copilot as a local process too.
    copilotCommand: [process.execPath, programOf(facts, localService("copilot"))],
  };
}

function blobService(facts: StackFacts): ServiceConfig {
  const { endpoints, blobs, folders, logLevel } = facts;
  const { accessKeyId, secretAccessKey, bucket } = blobs;
  const name = "local-blobstore";
  const place = { host: endpoints.host, port: endpoints.blobs, dataDir: folders.blobs };
  // The API's address serves the console.
  const hosts = new Set([endpoints.host, "localhost", "127.0.0.1"]);
  const allowedOrigins = [...hosts].map((host) => `http://${host.includes(":") ? `[${host}]` : host}:${endpoints.api}`);
  const config = { logLevel, ops: opsOf(facts)(name), ...place, accessKeyId, secretAccessKey, buckets: [bucket], allowedOrigins };
  return { name, program: programOf(facts, localService(name)), config };
}

/** For pods that are local processes: a task and its copilot have the same user, and no other user may read their files. */
const ONE_USER = { FLYTE_COPILOT_UMASK: "077" };

/** The service that makes this machine the node: the local cluster, or a runner of another cluster's pods. */
function nodeService(facts: StackFacts): ServiceConfig {
  const { endpoints, cluster, folders, sharedPythonBin, logLevel } = facts;
  const folder = localService("local-cluster");
  // Kill pods on shutdown; interrupted tasks are recreated as after a lost machine.
  const pods = {
    // The stack's own environment comes first, and may be created while the stack runs.
    podPath: [join(folders.python, "bin"), sharedPythonBin],
    podsOnStop: "kill",
    podEnv: { ...podEnv(facts), ...ONE_USER },
    warmPython: { ahead: true, modules: MODULES_AHEAD },
  };
  if (cluster.own) {
    const { clusterToken: token, clusterLogToken: logToken } = facts.credentials;
    const access = { access: "token", token, logToken };
    const config = { logLevel, port: endpoints.cluster, ...access, dataDir: folders.cluster, kubeconfig: cluster.kubeconfig, ...pods };
    return { name: "local-cluster", program: programOf(facts, folder), readyPort: endpoints.cluster, config };
  }
  const kubernetes = { kubeconfig: cluster.kubeconfig };
  const config = { logLevel, ops: opsOf(facts)("node-runner"), kubernetes, dataDir: folders.cluster, ...pods };
  return { name: "node-runner", program: programOf(facts, folder, "node-runner/main.js"), config };
}

/** Environment variables of every pod. */
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

/** Folder of a service's package in this repository. */
const localService = (name: string): string => join(repositoryRoot, "services", name);

/** A program of a service. Packages outside of the repository may have no bundle. */
function programOf({ bundles }: StackFacts, folder: string, main = "main.js"): string {
  const bundle = join(folder, "bundle", main);
  return bundles && existsSync(bundle) ? bundle : join(folder, "dist", main);
}

/** Health and metrics listen on loopback only. */
function opsOf({ endpoints }: StackFacts): (name: string) => { host: string; port: number } {
  return (name) => ({ host: "127.0.0.1", port: endpoints.ops[name] as number });
}
