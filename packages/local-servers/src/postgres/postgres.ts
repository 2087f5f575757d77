import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, type ProcessWatchdog, processCommandLine, processIdentity } from "@flyte-ts/host";
import { findPostgresBinaries } from "./postgres-binaries.js";
import { chownToNobody } from "./change-owner.js";
import { alterPassword, createDataDir } from "./postgres-data.js";
import { confirmPassword, readOrProposePassword } from "./postgres-password.js";
import { type LocalServer, ServerStartError, startServerProcess } from "../server-process.js";
import { dropPrivileges } from "./drop-privileges.js";

export interface PostgresOptions {
  /** Folder of the cluster; created and initialised if missing. */
  readonly dataDir: string;
  /** Default: any free port. */
  readonly port?: number;
  /** False trades durability for speed: only for data that may be lost. Default true. */
  readonly durable?: boolean;
  /** Further settings of the server, by name. */
  readonly settings?: Readonly<Record<string, string>>;
  /**
   * Ends the server when this process exits, even when it is killed. Default: the server keeps
   * running.
   */
  readonly watchdog?: ProcessWatchdog | undefined;
  /** Aborts the start and ends the server. */
  readonly signal?: AbortSignal | undefined;
}

/** Time for recovery after a crash, ms. */
const RECOVERY_TIMEOUT_MS = 60_000;

/**
 * Address of the server of a folder and port, whether it runs or not: programs may need it before
 * the start.
 */
export function postgresUrl({ dataDir, port }: Required<Pick<PostgresOptions, "dataDir" | "port">>): string {
  return `postgres://flyte:${readOrProposePassword(resolve(dataDir)).text}@127.0.0.1:${port}/postgres`;
}

/**
 * Starts PostgreSQL on a data folder, with a database and a user named `flyte`; the password is
 * random, kept beside the data, and replaced when it is lost. A server left over from a killed
 * caller is stopped first.
 */
export async function startPostgres({
  dataDir,
  port,
  durable = true,
  settings: ownSettings,
  watchdog,
  signal,
}: PostgresOptions): Promise<LocalServer> {
  const binaries = await findPostgresBinaries();
  const folder = resolve(dataDir);
  const data = join(folder, "data");
  const isNew = !existsSync(join(data, "PG_VERSION"));
  const password = readOrProposePassword(folder);
  const dataDirOptions = { data, password: password.text, durable, watchdog, signal };
  if (isNew) await createDataDir(binaries, dataDirOptions);
  else await stopStaleServer(data);
  if (!isNew && !password.confirmed) await alterPassword(binaries.postgres, dataDirOptions);
  if (!password.confirmed) confirmPassword(folder);
  const serverPort = port ?? (await freePort());
  const settings: Record<string, string | number> = {
    listen_addresses: "127.0.0.1",
    port: serverPort,
    unix_socket_directories: "",
    max_connections: 200,
    // Small, for a machine that runs everything else too: the page cache holds the rest.
    shared_buffers: "32MB",
    // For a disk without seek time: reading a row by its index costs hardly more than reading the
    // next one.
    random_page_cost: 1.1,
    // Queries here are short: compiling them costs more than running them.
    jit: "off",
    log_min_messages: "warning",
    ...(durable ? {} : { fsync: "off", synchronous_commit: "off", full_page_writes: "off" }),
    ...ownSettings,
  };
  const args = ["-D", data, ...Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`])];
  const { command, args: serverArgs, uid, gid } = dropPrivileges(binaries.postgres, args, [data, binaries.postgres]);
  const server = await startServerProcess({
    name: "PostgreSQL",
    command,
    args: serverArgs,
    options: { cwd: "/", ...(uid === undefined ? {} : { uid, gid: gid as number }) },
    url: postgresUrl({ dataDir, port: serverPort }),
    port: serverPort,
    stopSignal: "SIGINT",
    watchdog,
    signal,
  });
  try {
    await waitUntilAccepting(data, { server, signal });
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

/**
 * Stops the server that has the folder open, by `postmaster.pid`. PostgreSQL refuses to start when
 * any process of this user has the id in that file, so the file of an exited server must not hold
 * the id of another process.
 */
async function stopStaleServer(data: string): Promise<void> {
  const file = join(data, "postmaster.pid");
  if (!existsSync(file)) return;
  const lines = readFileSync(file, "utf8").split("\n");
  const pid = Number(lines[0]);
  // A power failure leaves files without their content.
  if (!Number.isInteger(pid) || pid <= 0) return rmSync(file, { force: true });
  const identity = processIdentity(pid);
  if (!isPostmasterOf(pid, data)) return clearPid(file, lines);
  process.kill(pid, "SIGINT");
  for (let waited = 0; waited < 10_000 && processIdentity(pid) === identity; waited += 50) await sleep(50);
}

/** Exceeds every process id (PID_MAX_LIMIT of Linux is 4,194,304; macOS ends at 99,999). */
const NO_PROCESS = 2_147_483_647;

/**
 * Removes the process id from the file and keeps the rest: its seventh line tells PostgreSQL
 * whether the shared memory of the old server is in use.
 */
function clearPid(file: string, lines: readonly string[]): void {
  const staged = `${file}.new`;
  rmSync(staged, { force: true });
  writeFileSync(staged, [String(NO_PROCESS), ...lines.slice(1)].join("\n"), { mode: 0o600 });
  chownToNobody(staged);
  renameSync(staged, file);
}

interface StartingServer {
  readonly server: LocalServer;
  readonly signal: AbortSignal | undefined;
}

/**
 * The port opens before recovery ends, and until then the server refuses; line 8 of postmaster.pid
 * says when it accepts.
 */
async function waitUntilAccepting(data: string, { server, signal }: StartingServer): Promise<void> {
  const file = join(data, "postmaster.pid");
  for (let waited = 0; waited < RECOVERY_TIMEOUT_MS && signal?.aborted !== true; waited += 10) {
    const status = existsSync(file) ? readFileSync(file, "utf8").split("\n")[7]?.trim() : undefined;
    // A standby accepts reads only.
    if (status === "ready" || status === "standby") return;
    const exit = await Promise.race([server.ended, sleep(10)]);
    if (exit !== undefined) throw new ServerStartError(`${exit} during recovery`);
  }
  throw new ServerStartError(
    signal?.aborted === true
      ? "PostgreSQL was stopped while it started"
      : `PostgreSQL did not accept connections within ${RECOVERY_TIMEOUT_MS / 1_000} s`,
  );
}

/** True for a postmaster of this very folder: the id may have been reused since. */
function isPostmasterOf(pid: number, data: string): boolean {
  const command = processCommandLine(pid);
  if (command === undefined) return false;
  if (process.platform !== "linux") return command.includes(`postgres -D ${data} `);
  const [program = "", ...serverArgs] = command.split("\0");
  return basename(program) === "postgres" && serverArgs[serverArgs.indexOf("-D") + 1] === data;
}
