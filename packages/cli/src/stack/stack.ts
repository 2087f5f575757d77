import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Guard, type LocalServer, postgresUrl, startNats, startPostgres } from "@flyte-ts/local-servers";
import { stringify } from "yaml";
import { busServices } from "@flyte-ts/service-manifest";
import { writeBusConfig } from "./bus.js";
import { watchBus } from "./bus-watch.js";
import { checkBlobs, givenBlobs, ownBlobs, type StackBlobs } from "./blobs.js";
import { claimFolder } from "./claim.js";
import { writeClientEnv } from "./client-env.js";
import { givenCluster, ownCluster, type StackCluster } from "./cluster.js";
import type { StackConfig } from "./config.js";
import { stackCredentials } from "./credentials.js";
import { makeFolders } from "./data-folder.js";
import { isFull, lackOfRoom } from "./disk-room.js";
import { KeptServer } from "./kept-server.js";
import { cacheFolder, type StackFolders, stackFolders } from "./paths.js";
import { choosePorts } from "./ports.js";
import { keepFilesPrivate } from "./private-folder.js";
import type { Progress } from "./progress.js";
import type { PyflyteTarget } from "./pyflyte.js";
import { ensurePythonEnvironment } from "./python-environment.js";
import { type Endpoints, groundConfigs, replicaNames, type ServiceConfig, userConfigs } from "./service-configs.js";
import { makeAccounts, type StackSignIn } from "./sign-in.js";
import { StackError } from "./stack-error.js";
import { stackServices } from "./stack-services.js";
import { SupervisedService } from "./supervised-service.js";
import { writeWhole } from "./write-whole.js";
import { binOf, preparePython } from "../python/own-packages.js";

export interface Stack {
  readonly folders: StackFolders;
  readonly endpoints: Endpoints;
  readonly cluster: StackCluster;
  readonly blobs: StackBlobs;
  readonly pythonBin: string;
  /** Undefined: no sign-in. */
  readonly signIn: StackSignIn | undefined;
  /** Resolves with a description when a server of the stack ended and could not be restarted. */
  readonly failed: Promise<string>;
  stop(): Promise<void>;
}

const READY_MS = 60_000;

interface StackParts {
  readonly progress: Progress;
  /** Ends child processes when this process dies. */
  readonly guard: Guard;
  /** Aborts the start, and stops its processes. */
  readonly signal: AbortSignal;
  /** Called before anything is started. */
  readonly onPlanned?: (plan: PyflyteTarget) => void;
}

/** Starts servers and services in dependency order, otherwise in parallel, and keeps them running. */
export async function startStack(config: StackConfig, { progress, guard, signal, onPlanned }: StackParts): Promise<Stack> {
  const folders = stackFolders(config.data ?? ".flyte-ts");
  keepFilesPrivate();
  const warning = makeFolders(folders);
  if (warning !== undefined) progress.line(`  ${warning}`);
  const release = await claimFolder(folders, { guard, signal }).catch((error: unknown) => {
    throw fullDisk(error, folders) ?? error;
  });
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    // A part that cannot be stopped does not prevent the others from stopping; the guard ends it.
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
      throw new StackError("--host is for the nodes of another cluster: name it with --kubeconfig");
    const given = kubeconfig === undefined ? undefined : givenCluster(kubeconfig, config.host !== undefined);
    const givenStore = config.s3 === undefined ? undefined : givenBlobs(config.s3, config.bucket, process.env);
    if (givenStore !== undefined) await checkBlobs(givenStore);
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
    const pythonBin = binOf(python);
    const signIn = config.auth
      ? { publicUrl: `http://${config.host ?? "localhost"}:${ports.api}`, secretsFolder: join(folders.root, "secrets") }
      : undefined;
    writeWhole(join(folders.config, "python-bin"), pythonBin);
    onPlanned?.({ pythonBin, host, api: ports.api, signIn });
    let failed: (how: string) => void = () => undefined;
    const failure = new Promise<string>((resolve) => {
      failed = resolve;
    });
    // The folder may be on a separate disk.
    const keptServer = (name: string, folder: string, start: (signal: AbortSignal) => Promise<LocalServer>) => {
      const kept = new KeptServer(name, start, {
        onRestart: progress.line,
        onFailed: failed,
        obstacle: () => lackOfRoom(folder),
        now: () => performance.now(),
        pause,
      });
      stops.push(() => kept.stop());
      return kept;
    };
    const endpoints: Endpoints = {
      host,
      api: ports.api,
      blobs: ports.blobs,
      cluster: ports.cluster,
      catalog: ports.catalog,
      ops: ports.ops,
    };
    const cluster = given ?? ownCluster(folders.kubeconfig, ports.cluster, credentials);
    const blobs = givenStore ?? ownBlobs({ host, port: ports.blobs }, config.bucket, credentials);
    writeBusConfig(folders.busConfig, credentials.bus, manifests);
    writeClientEnv(folders.clientEnv, { endpoints, cluster, blobs, signIn });
    const { logLevel, bundles, propellers } = config;
    const sharedPythonBin = shared.bin;
    const facts = { credentials, endpoints, cluster, blobs, folders, sharedPythonBin, logLevel, bundles, propellers, signIn, services };
    const startServices = async (configs: readonly ServiceConfig[]) => {
      const services = configs.map(({ name, program, config: content, readyPort }) => {
        const configFile = join(folders.config, `${name}.yaml`);
        writeFileSync(configFile, stringify(content), { mode: 0o600 });
        const onRestart = (service: string, how: string) =>
          progress.line(`  ${service} ended (${how}): starting it again; its log is in ${folders.logs}`);
        return new SupervisedService(
          { name, program, configFile, opsPort: readyPort ?? (ports.ops[name] as number) },
          { logFolder: folders.logs, guard, onRestart },
        );
      });
      stops.push(async () => {
        await Promise.all(services.map((service) => service.stop()));
      });
      for (const service of services) service.start();
      await Promise.all(services.map((service) => service.ready(READY_MS)));
    };
    // Started first, stopped last.
    const ground = startServices(groundConfigs(facts));
    const server = { dataDir: folders.postgres, port: ports.postgres };
    const database = keptServer("PostgreSQL", folders.postgres, (ending) => startPostgres({ ...server, guard, signal: ending })).start();
    // Prevents unhandled rejections; the final wait reports the errors.
    for (const start of [ground, database]) start.catch(() => undefined);
    const bus = keptServer("NATS", folders.nats, (ending) =>
      startNats({
        dataDir: folders.nats,
        port: ports.nats,
        args: ["-c", folders.busConfig],
        guard,
        signal: ending,
        onDownload: (what) => progress.line(`  downloading ${what} (once) …`),
      }),
    );
    const groundStep = progress.step("NATS, cluster and blob store", async () => (await Promise.all([bus.start(), ground]))[0]);
    const nats = await unlessAborted(groundStep, signal);
    // Creating a database takes a second and leaves a processor idle: services load meanwhile.
    const servicesStep = progress.step("PostgreSQL and services", () =>
      Promise.all([database, startServices(userConfigs(facts, { databaseUrl: postgresUrl(server), natsUrl: nats.url }))]),
    );
    await unlessAborted(servicesStep, signal);
    if (signIn !== undefined) {
      const accounts = progress.step("accounts", () => makeAccounts(signIn, join(folders.config, "admin.yaml")));
      await unlessAborted(accounts, signal);
    }
    const watching = new AbortController();
    const watched = watchBus(
      {
        ports: busServices(manifests).flatMap(({ id }) => replicaNames(id, propellers).flatMap((name) => ports.ops[name] ?? [])),
        obstacle: () => lackOfRoom(folders.nats),
        restart: (why) => bus.renew(why),
        pause,
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
    throw fullDisk(error, folders) ?? error;
  }
}

/** Describes a failed start for lack of space; undefined when each disk has enough. */
function fullDisk(cause: unknown, { root, postgres, nats, blobs, cluster }: StackFolders): StackError | undefined {
  const lack = [root, postgres, nats, blobs, cluster, cacheFolder()].map(lackOfRoom).find((found) => found !== undefined);
  if (lack !== undefined) return new StackError(`${lack} and start again`, { cause });
  if (!isFull(cause)) return undefined;
  return new StackError(`the disk that holds ${root} is full: free some space and start again`, { cause });
}

/** Resolves like the promise, unless the signal is aborted first. @throws the signal's reason when it is */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  promise.catch(() => undefined);
  signal.throwIfAborted();
  const listening = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true, signal: listening.signal });
  });
  return Promise.race([promise, aborted]).finally(() => listening.abort());
}

const pause = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal }).catch(() => undefined);
