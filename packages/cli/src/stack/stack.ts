import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, type Guard, isGuard, type LocalServer, portInUse, postgresUrl, startNats, startPostgres } from "@flyte-ts/local-servers";
import { stringify } from "yaml";
import { checkBlobs, givenBlobs, ownBlobs, type StackBlobs } from "./blobs.js";
import { givenCluster, type StackCluster } from "./cluster.js";
import type { StackConfig } from "./config.js";
import { KeptServer } from "./kept-server.js";
import { type StackFolders, stackFolders } from "./paths.js";
import type { Progress } from "./progress.js";
import type { PyflyteTarget } from "./pyflyte.js";
import { ensurePythonEnvironment } from "./python-environment.js";
import { type Endpoints, groundConfigs, propellerName, type ServiceConfig, userConfigs } from "./service-configs.js";
import { makeAccounts, type StackSignIn } from "./sign-in.js";
import { SupervisedService } from "./supervised-service.js";

export interface Stack {
  readonly folders: StackFolders;
  readonly endpoints: Endpoints;
  readonly cluster: StackCluster;
  readonly blobs: StackBlobs;
  readonly pythonBin: string;
  /** Undefined: nobody is asked who they are. */
  readonly signIn: StackSignIn | undefined;
  /** Resolves with a description when a server of the stack ended and could not be brought back. */
  readonly failed: Promise<string>;
  stop(): Promise<void>;
}

/** The stack cannot be started; the message says what to do. */
export class StackError extends Error {
  override readonly name = "StackError";
}

const READY_MS = 60_000;
/** A guard takes ten seconds at most. */
const GUARD_MS = 15_000;

interface StackParts {
  readonly progress: Progress;
  /** Ends what was started when this process has died. */
  readonly guard: Guard;
  /** Told before anything is started. */
  readonly onPlanned?: (plan: PyflyteTarget) => void;
}

/** Starts servers and services in the order of their needs, in parallel where there is none, and keeps them running. */
export async function startStack(config: StackConfig, { progress, guard, onPlanned }: StackParts): Promise<Stack> {
  const folders = stackFolders(config.data ?? ".flyte-ts");
  for (const folder of [folders.root, folders.config, folders.logs, folders.blobs, folders.cluster]) mkdirSync(folder, { recursive: true });
  await claim(folders, guard);
  const { kubeconfig, host = "127.0.0.1" } = config;
  if (config.host !== undefined && kubeconfig === undefined)
    throw new StackError("--host is for the nodes of another cluster: name it with --kubeconfig");
  const given = kubeconfig === undefined ? undefined : givenCluster(kubeconfig, config.host !== undefined);
  const givenStore = config.s3 === undefined ? undefined : givenBlobs(config.s3, config.bucket, process.env);
  if (givenStore !== undefined) await checkBlobs(givenStore);
  const ports = await choosePorts(config, folders);
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const step of stops.splice(0).reverse()) await step();
    rmSync(folders.pidFile, { force: true });
  };
  try {
    const python = await ensurePythonEnvironment((text) => progress.line(`  ${text} …`));
    const signIn = config.auth
      ? { publicUrl: `http://${config.host ?? "localhost"}:${ports.api}`, secretsFolder: join(folders.root, "secrets") }
      : undefined;
    writeFileSync(join(folders.config, "python-bin"), python.bin);
    onPlanned?.({ pythonBin: python.bin, host, api: ports.api, signIn });
    let failed: (how: string) => void = () => undefined;
    const failure = new Promise<string>((resolve) => {
      failed = resolve;
    });
    const keepServer = async (name: string, start: () => Promise<LocalServer>) => {
      const kept = new KeptServer(name, start, { onRestart: progress.line, onFailed: failed, now: () => performance.now(), pause });
      stops.push(() => kept.stop());
      return kept.start();
    };
    const endpoints: Endpoints = {
      host,
      api: ports.api,
      blobs: ports.blobs,
      cluster: ports.cluster,
      catalog: ports.catalog,
      ops: ports.ops,
    };
    const own: StackCluster = { kubeconfig: folders.kubeconfig, url: `http://127.0.0.1:${ports.cluster}`, own: true, hasNodes: false };
    const cluster = given ?? own;
    const blobs = givenStore ?? ownBlobs(host, ports.blobs, config.bucket);
    const { logLevel, bundles, propellers } = config;
    const facts = { endpoints, cluster, blobs, folders, pythonBin: python.bin, logLevel, bundles, propellers, signIn };
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
    // What is started first is stopped last.
    const ground = startServices(groundConfigs(facts));
    const server = { dataDir: folders.postgres, port: ports.postgres };
    const database = keepServer("PostgreSQL", () => startPostgres({ ...server, guard }));
    // Told by who waits for all of it.
    for (const start of [ground, database]) start.catch(() => undefined);
    const nats = await progress.step("NATS, cluster and blob store", async () => {
      const bus = keepServer("NATS", () =>
        startNats({
          dataDir: folders.nats,
          port: ports.nats,
          guard,
          onDownload: (what) => progress.line(`  downloading ${what} (once) …`),
        }),
      );
      return (await Promise.all([bus, ground]))[0];
    });
    // To make a database takes a second and leaves a processor idle: services load meanwhile.
    await progress.step("PostgreSQL and services", () =>
      Promise.all([database, startServices(userConfigs(facts, { databaseUrl: postgresUrl(server), natsUrl: nats.url }))]),
    );
    if (signIn !== undefined) {
      await progress.step("accounts", () => makeAccounts(signIn, join(folders.config, "admin.yaml")));
    }
    return { folders, endpoints, cluster, blobs, pythonBin: python.bin, signIn, failed: failure, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal }).catch(() => undefined);

/** Two stacks on one folder would destroy each other's state. What one that was killed left is ended by its guard, which is waited for. */
async function claim({ pidFile, root }: StackFolders, guard: Guard): Promise<void> {
  const [pid, guardPid] = readPids(pidFile);
  if (pid !== undefined && pid !== process.pid && isAlive(pid)) {
    throw new StackError(`the stack in ${root} is running already (process ${pid}): end it first, or use another folder with --data`);
  }
  for (let waited = 0; guardPid !== undefined && isGuard(guardPid); waited += 50) {
    if (waited > GUARD_MS) throw new StackError(`what a stack in ${root} that was killed has left does not end (process ${guardPid})`);
    await sleep(50);
  }
  writeFileSync(pidFile, `${process.pid}\n${guard.pid ?? ""}\n`);
}

function readPids(file: string): (number | undefined)[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .map((line) => Number(line) || undefined);
  } catch {
    return [];
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

interface Ports {
  readonly api: number;
  readonly blobs: number;
  readonly cluster: number;
  readonly postgres: number;
  readonly nats: number;
  readonly catalog: number;
  readonly ops: Readonly<Record<string, number>>;
}

const SERVICES = ["local-blobstore", "local-cluster", "node-runner", "admin", "datacatalog", "scheduler", "plugin-pod", "plugin-echo"];

/** Ports that were chosen freely stay the same over restarts, so that what was written down with them stays true. */
async function choosePorts(config: StackConfig, folders: StackFolders): Promise<Ports> {
  const file = join(folders.config, "ports.json");
  let known: Partial<Ports> = {};
  try {
    known = JSON.parse(readFileSync(file, "utf8")) as Partial<Ports>;
  } catch {
    // First start.
  }
  const free = async (before: number | undefined) =>
    before !== undefined && before > 0 && !(await portInUse(before)) ? before : freePort();
  const fixed = async (port: number, what: { flag: string; before: number | undefined }) => {
    if (port === 0) return free(what.before);
    if (await portInUse(port))
      throw new StackError(`port ${port} is in use: stop what listens on it, or choose another with --${what.flag}`);
    return port;
  };
  const ops: Record<string, number> = {};
  const propellers = Array.from({ length: config.propellers }, (_, index) => propellerName(index));
  for (const service of [...SERVICES, ...propellers]) ops[service] = await free(known.ops?.[service]);
  const ports: Ports = {
    api: await fixed(config.port, { flag: "port", before: known.api }),
    blobs: config.s3 === undefined ? await fixed(config.blobPort, { flag: "blobPort", before: known.blobs }) : (known.blobs ?? 0),
    cluster: await fixed(config.clusterPort, { flag: "clusterPort", before: known.cluster }),
    postgres: await free(known.postgres),
    nats: await free(known.nats),
    catalog: await free(known.catalog),
    ops,
  };
  writeFileSync(file, JSON.stringify(ports, null, 2));
  return ports;
}
