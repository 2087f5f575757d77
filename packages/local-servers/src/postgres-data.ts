import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { cacheFolder } from "./cache-folder.js";
import type { Guard } from "./guard.js";
import { complete, madeOnce } from "./made-once.js";
import type { PostgresBinaries } from "./postgres-binaries.js";
import { ServerStartError } from "./server-process.js";
import { giveAway } from "./give-away.js";
import { randomPassword } from "./postgres-password.js";
import { unprivileged } from "./unprivileged.js";

export interface NewData {
  /** Folder of the cluster; its parent exists. */
  readonly data: string;
  /** Password of the user `flyte`; letters, digits, `-` and `_`. */
  readonly password: string;
  /** False: it may be lost with the machine. */
  readonly durable: boolean;
  readonly guard: Guard | undefined;
  /** Aborts running programs. */
  readonly signal?: AbortSignal | undefined;
}

const FLAGS = ["-U", "flyte", "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-instructions"];

/**
 * Creates the data folder of a new server: a copy of an initialized one, with its own password. It appears complete or
 * not at all.
 *
 * @throws ServerStartError when a program fails.
 */
export async function makeData(binaries: PostgresBinaries, { data, password, durable, guard, signal }: NewData): Promise<void> {
  const { initdb, postgres } = binaries;
  const initialised = await initialisedData(binaries, { guard, signal });
  await complete(data, async (made) => {
    await run("cp", ["-Rp", initialised, made], { paths: [initialised, made], guard, signal });
    await alterPassword(postgres, { data: made, password, durable: false, guard, signal });
    if (durable) await run(initdb, ["--sync-only", "-D", made], { paths: [made, initdb], guard, signal });
  });
}

/**
 * Sets the password of the user `flyte` in a folder that no server has open.
 *
 * @throws ServerStartError when that fails.
 */
export async function alterPassword(postgres: string, { data, password, durable, guard, signal }: NewData): Promise<void> {
  const words = ["--single", "-D", data, "-c", "exit_on_error=on", ...(durable ? [] : ["-c", "fsync=off"]), "postgres"];
  await run(postgres, words, { paths: [data, postgres], guard, signal, input: `ALTER ROLE flyte PASSWORD '${password}'\n` });
}

/**
 * Caches a data folder initialized by `initdb`, once per release, since it takes most of a second of CPU time.
 *
 * @throws ServerStartError when `initdb` fails.
 */
async function initialisedData(
  { version, initdb }: PostgresBinaries,
  { guard, signal }: Pick<NewData, "guard" | "signal">,
): Promise<string> {
  const digest = createHash("sha256").update(FLAGS.join(" ")).digest("hex").slice(0, 8);
  const data = join(cacheFolder(), `postgresql-data-${version}-${digest}`);
  const make = async () => {
    const password = `${data}.password`;
    try {
      writeFileSync(password, randomPassword(), { mode: 0o600 });
      giveAway(password);
      await complete(data, async (made) => {
        mkdirSync(made);
        giveAway(made);
        await run(initdb, ["-D", made, `--pwfile=${password}`, ...FLAGS], { paths: [made, initdb], guard, signal });
      });
    } finally {
      rmSync(password, { force: true });
    }
  };
  await madeOnce(data, { isThere: () => existsSync(data), make, signal });
  return data;
}

interface Running {
  /** Paths that the program must reach. */
  readonly paths: readonly string[];
  readonly guard: Guard | undefined;
  readonly signal: AbortSignal | undefined;
  readonly input?: string;
}

/** Runs a program with the user and environment of PostgreSQL's programs. */
async function run(program: string, words: readonly string[], { paths, guard, signal, input = "" }: Running): Promise<void> {
  const { command, args, uid, gid } = unprivileged(program, words, paths);
  try {
    const running = promisify(execFile)(command, args, {
      cwd: "/",
      ...(signal && { signal }),
      ...(uid === undefined ? {} : { uid, gid: gid as number }),
    });
    guard?.watch(running.child);
    // A program that ends before it has read reports the reason itself.
    running.child.stdin?.on("error", () => undefined);
    running.child.stdin?.end(input);
    await running;
  } catch (cause) {
    throw new ServerStartError(`the database's folder cannot be made: ${(cause as Error).message}`, { cause });
  }
}
