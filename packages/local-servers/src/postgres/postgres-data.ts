import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { cacheDir, type ProcessWatchdog, replaceAtomically, createOnce } from "@flyte-ts/host";
import type { PostgresBinaries } from "./postgres-binaries.js";
import { ServerStartError } from "../server-process.js";
import { chownToNobody } from "./change-owner.js";
import { randomPassword } from "./postgres-password.js";
import { dropPrivileges } from "./drop-privileges.js";

export interface NewDataDir {
  /** Folder of the cluster; its parent exists. */
  readonly data: string;
  /** Password of the user `flyte`; letters, digits, `-` and `_`. */
  readonly password: string;
  /** False: it may be lost with the machine. */
  readonly durable: boolean;
  readonly watchdog: ProcessWatchdog | undefined;
  /** Aborts running programs. */
  readonly signal?: AbortSignal | undefined;
}

const INITDB_FLAGS = ["-U", "flyte", "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-instructions"];

/**
 * Creates the data folder of a new server: a copy of an initialized one, with its own password. It
 * appears complete or not at all.
 *
 * @throws ServerStartError when a program fails.
 */
export async function createDataDir(binaries: PostgresBinaries, { data, password, durable, watchdog, signal }: NewDataDir): Promise<void> {
  const { initdb, postgres } = binaries;
  const template = await templateDataDir(binaries, { watchdog, signal });
  await replaceAtomically(data, async (staged) => {
    await run("cp", ["-Rp", template, staged], { paths: [template, staged], watchdog, signal });
    await alterPassword(postgres, { data: staged, password, durable: false, watchdog, signal });
    if (durable) await run(initdb, ["--sync-only", "-D", staged], { paths: [staged, initdb], watchdog, signal });
  });
}

/**
 * Sets the password of the user `flyte` in a folder that no server has open.
 *
 * @throws ServerStartError when that fails.
 */
export async function alterPassword(postgres: string, { data, password, durable, watchdog, signal }: NewDataDir): Promise<void> {
  const args = ["--single", "-D", data, "-c", "exit_on_error=on", ...(durable ? [] : ["-c", "fsync=off"]), "postgres"];
  await run(postgres, args, { paths: [data, postgres], watchdog, signal, input: `ALTER ROLE flyte PASSWORD '${password}'\n` });
}

/**
 * Caches a data folder initialized by `initdb`, once per release, since it takes most of a second
 * of CPU time.
 *
 * @throws ServerStartError when `initdb` fails.
 */
async function templateDataDir(
  { version, initdb }: PostgresBinaries,
  { watchdog, signal }: Pick<NewDataDir, "watchdog" | "signal">,
): Promise<string> {
  const digest = createHash("sha256").update(INITDB_FLAGS.join(" ")).digest("hex").slice(0, 8);
  const data = join(cacheDir(), `postgresql-data-${version}-${digest}`);
  const create = async () => {
    const password = `${data}.password`;
    try {
      writeFileSync(password, randomPassword(), { mode: 0o600 });
      chownToNobody(password);
      await replaceAtomically(data, async (staged) => {
        mkdirSync(staged);
        chownToNobody(staged);
        await run(initdb, ["-D", staged, `--pwfile=${password}`, ...INITDB_FLAGS], { paths: [staged, initdb], watchdog, signal });
      });
    } finally {
      rmSync(password, { force: true });
    }
  };
  await createOnce(data, { exists: () => existsSync(data), create, signal });
  return data;
}

interface RunOptions {
  /** Paths that the program must reach. */
  readonly paths: readonly string[];
  readonly watchdog: ProcessWatchdog | undefined;
  readonly signal: AbortSignal | undefined;
  readonly input?: string;
}

/** Runs a program with the user and environment of PostgreSQL's programs. */
async function run(program: string, args: readonly string[], { paths, watchdog, signal, input = "" }: RunOptions): Promise<void> {
  const { uid, gid, ...launch } = dropPrivileges(program, args, paths);
  try {
    const running = promisify(execFile)(launch.command, launch.args, {
      cwd: "/",
      ...(signal && { signal }),
      ...(uid === undefined ? {} : { uid, gid: gid as number }),
    });
    watchdog?.watch(running.child);
    // A program that ends before it has read reports the reason itself.
    running.child.stdin?.on("error", () => undefined);
    running.child.stdin?.end(input);
    await running;
  } catch (cause) {
    throw new ServerStartError(`the data folder of the database cannot be created: ${(cause as Error).message}`, { cause });
  }
}
