import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ProcessWatchdog, cacheDir, replaceFile } from "@flyte-ts/host";
import { type LocalServer, postgresUrl, startNats, startPostgres } from "@flyte-ts/local-servers";
import { stringify } from "yaml";
import { busServices } from "@flyte-ts/service-manifest";
import { watchBus } from "./service/bus-watch.js";
import { checkExternalBlobStore, externalBlobStore, localBlobStore, type StackBlobStore } from "./service/blob-store.js";
import { grantExternalPlugins, watchExternalPlugins } from "./external-plugins/grant-access.js";
import { acquireStackLock } from "./state/stack-lock.js";
import { writeClientEnv } from "./state/client-env.js";
import { externalCluster, localCluster, type StackCluster } from "./service/cluster.js";
import type { StackConfig } from "./stack-config.js";
import { stackCredentials } from "./state/credentials.js";
import { createStackDirs } from "./state/stack-dirs.js";
import { isDiskFull, describeLowDiskSpace } from "./state/disk-space.js";
import { ServerSupervisor } from "./service/server-supervisor.js";
import { type StackPaths, stackPaths } from "./state/paths.js";
import { choosePorts } from "./state/ports.js";
import { restrictNewFiles } from "./state/private-dir.js";
import type { Progress } from "./progress.js";
import { ensurePythonEnvironment } from "./python/python-environment.js";
import {
  type Endpoints,
  infrastructureServices,
  replicaNames,
  type ServiceConfig,
  applicationServices,
} from "./service/service-configs.js";
import { provisionAccounts, type StackSignIn } from "./service/sign-in.js";
import { StackError } from "./stack-error.js";
import { ServiceSupervisor } from "./service/service-supervisor.js";
import { binDir, preparePython } from "./python/stack-packages.js";
import { stackServices } from "./service/stack-services.js";

export interface Stack {
  readonly folders: StackPaths;
  readonly endpoints: Endpoints;
  readonly cluster: StackCluster;
  readonly blobs: StackBlobStore;
  readonly pythonBin: string;
  /** Undefined: no sign-in. */
  readonly signIn: StackSignIn | undefined;
  /** Resolves with a description when a server of the stack ended and could not be restarted. */
  readonly failed: Promise<string>;
  stop(): Promise<void>;
}

const READY_TIMEOUT_MS = 60_000;

/** Addresses and programs of a stack that are known before it starts. */
export interface PyflyteTarget {
  readonly pythonBin: string;
  /** Host and port of the API. */
  readonly host: string;
  readonly api: number;
  /** Undefined: no sign-in. */
  readonly signIn?: StackSignIn | undefined;
}

export interface StackOptions {
  readonly progress: Progress;
  /** Ends child processes when this process exits, even when it is killed. */
  readonly watchdog: ProcessWatchdog;
  /** Aborts the start, and stops its processes. */
  readonly signal: AbortSignal;
  /** Called before anything is started. */
  readonly onPlanned?: (plan: PyflyteTarget) => void;
}

/**
 * Starts servers and services in dependency order, otherwise in parallel, and keeps them running.
 */
export async function startStack(config: StackConfig, { progress, watchdog, signal, onPlanned }: StackOptions): Promise<Stack> {
  const folders = stackPaths(config.data ?? ".flyte-ts");
  restrictNewFiles();
  const warning = createStackDirs(folders);
  if (warning !== undefined) progress.line(`  ${warning}`);
  const release = await acquireStackLock(folders, { watchdog, signal }).catch((error: unknown) => {
    throw diskFullError(error, folders) ?? error;
  });
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    // A part that cannot be stopped does not prevent the others from stopping; the watchdog ends
    // it.
    for (const step of stops.splice(0).reverse()) await step().catch((error: Error) => progress.line(`  ${error.message}`));
    release();
  };
  try {
    const services = await stackServices(config);
    const manifests = services.map(({ manifest }) => manifest);
    const credentials = stackCredentials(
      folders.credentials,
      busServices(manifests).map(({ id }) => id),
    );
    const { kubeconfig, host = "127.0.0.1" } = config;
    if (config.host !== undefined && kubeconfig === undefined)
      throw new StackError("--host requires --kubeconfig, which names the cluster whose nodes reach it");
    const external = kubeconfig === undefined ? undefined : externalCluster(kubeconfig, config.host !== undefined);
    const externalStore = config.s3 === undefined ? undefined : externalBlobStore(config.s3, config.bucket, process.env);
    if (externalStore !== undefined) await checkExternalBlobStore(externalStore);
    const ports = await choosePorts(
      config,
      folders,
      manifests.map(({ id }) => id),
    );
    const onInstall = (text: string) => progress.line(`  ${text} …`);
    const shared = await unlessAborted(ensurePythonEnvironment({ onInstall, signal }), signal);
    const python = { own: folders.python, shared: shared.folder, signal };
    const requirements = config.requirements === undefined ? undefined : resolve(config.requirements);
    await unlessAborted(preparePython(python, { requirements, onInstall }), signal);
    const pythonBin = binDir(python);
    const signIn = config.auth
      ? { publicUrl: `http://${config.host ?? "localhost"}:${ports.api}`, secretsFolder: join(folders.root, "secrets") }
      : undefined;
    replaceFile(join(folders.config, "python-bin"), pythonBin);
    onPlanned?.({ pythonBin, host, api: ports.api, signIn });
    let failed: (how: string) => void = () => undefined;
    const failure = new Promise<string>((resolve) => {
      failed = resolve;
    });
    // The folder may be on a separate disk.
    const superviseServer = (name: string, folder: string, start: (signal: AbortSignal) => Promise<LocalServer>) => {
      const supervisor = new ServerSupervisor(name, start, {
        onRestart: progress.line,
        onFailed: failed,
        obstacle: () => describeLowDiskSpace(folder),
        now: () => performance.now(),
        delay,
      });
      stops.push(() => supervisor.stop());
      return supervisor;
    };
    const endpoints: Endpoints = {
      host,
      api: ports.api,
      blobs: ports.blobs,
      cluster: ports.cluster,
      catalog: ports.catalog,
      ops: ports.ops,
    };
    const cluster = external ?? localCluster(folders.kubeconfig, ports.cluster, credentials);
    const blobs = externalStore ?? localBlobStore({ host, port: ports.blobs }, config.bucket, credentials);
    writeClientEnv(folders.clientEnv, { endpoints, cluster, blobs, signIn });
    const { logLevel, bundles, propellers } = config;
    const externalPlugins = { folders, services: manifests, blobs, logLevel, natsPort: ports.nats };
    grantExternalPlugins(externalPlugins);
    const sharedPythonBin = shared.bin;
    const context = { credentials, endpoints, cluster, blobs, folders, sharedPythonBin, logLevel, bundles, propellers, signIn, services };
    const startServices = async (configs: readonly ServiceConfig[]) => {
      const services = configs.map(({ name, program, config: content, readyPort }) => {
        const configFile = join(folders.config, `${name}.yaml`);
        writeFileSync(configFile, stringify(content), { mode: 0o600 });
        const onRestart = (service: string, how: string) =>
          progress.line(`  ${service} exited (${how}); restarting; its log is in ${folders.logs}`);
        return new ServiceSupervisor(
          { name, program, configFile, opsPort: readyPort ?? (ports.ops[name] as number) },
          { logDir: folders.logs, watchdog, onRestart },
        );
      });
      stops.push(async () => {
        await Promise.all(services.map((service) => service.stop()));
      });
      for (const service of services) service.start();
      await Promise.all(services.map((service) => service.ready(READY_TIMEOUT_MS)));
    };
    // Started first, stopped last.
    const infrastructure = startServices(infrastructureServices(context));
    const server = { dataDir: folders.postgres, port: ports.postgres };
    const database = superviseServer("PostgreSQL", folders.postgres, (abort) =>
      startPostgres({ ...server, watchdog, signal: abort }),
    ).start();
    // Prevents unhandled rejections; the final wait reports the errors.
    for (const start of [infrastructure, database]) start.catch(() => undefined);
    const bus = superviseServer("NATS", folders.nats, (abort) =>
      startNats({
        dataDir: folders.nats,
        port: ports.nats,
        args: ["-c", folders.busConfig],
        watchdog,
        signal: abort,
        onProgress: (what) => progress.line(`  downloading ${what} (once) …`),
      }),
    );
    const watchedPlugins = watchExternalPlugins(externalPlugins, {
      onGranted: () => bus.signal("SIGHUP"),
      onRefused: (why) => progress.line(`  ${why}`),
    });
    stops.push(() => Promise.resolve(watchedPlugins.close()));
    const infrastructureStep = progress.step(
      "NATS, cluster and blob store",
      async () => (await Promise.all([bus.start(), infrastructure]))[0],
    );
    const nats = await unlessAborted(infrastructureStep, signal);
    // Creating a database takes a second and leaves a processor idle: services load meanwhile.
    const servicesStep = progress.step("PostgreSQL and services", () =>
      Promise.all([database, startServices(applicationServices(context, { databaseUrl: postgresUrl(server), natsUrl: nats.url }))]),
    );
    await unlessAborted(servicesStep, signal);
    if (signIn !== undefined) {
      const accounts = progress.step("accounts", () => provisionAccounts(signIn, join(folders.config, "admin.yaml")));
      await unlessAborted(accounts, signal);
    }
    const watching = new AbortController();
    const watched = watchBus(
      {
        ports: busServices(manifests).flatMap(({ id }) => replicaNames(id, propellers).flatMap((name) => ports.ops[name] ?? [])),
        obstacle: () => describeLowDiskSpace(folders.nats),
        restart: (why) => bus.forceRestart(why),
        delay,
      },
      watching.signal,
    );
    stops.push(() => {
      watching.abort();
      return watched;
    });
    return { folders, endpoints, cluster, blobs, pythonBin, signIn, failed: failure, stop };
  } catch (error) {
    await stop();
    throw diskFullError(error, folders) ?? error;
  }
}

/** Describes a failed start for lack of space; undefined when each disk has enough. */
function diskFullError(cause: unknown, { root, postgres, nats, blobs, cluster }: StackPaths): StackError | undefined {
  const lack = [root, postgres, nats, blobs, cluster, cacheDir()].map(describeLowDiskSpace).find((found) => found !== undefined);
  if (lack !== undefined) return new StackError(`${lack} and start again`, { cause });
  if (!isDiskFull(cause)) return undefined;
  return new StackError(`the disk that holds ${root} is full: free some space and start again`, { cause });
}

/**
 * Resolves like the promise, unless the signal is aborted first. @throws the signal's reason when
 * it is
 */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  promise.catch(() => undefined);
  signal.throwIfAborted();
  const listening = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true, signal: listening.signal });
  });
  return Promise.race([promise, aborted]).finally(() => listening.abort());
}

const delay = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal }).catch(() => undefined);
