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
  /** Folder of the cluster; its parent is there. */
  readonly data: string;
  /** Of the user `flyte`; letters, digits, `-` and `_`. */
  readonly password: string;
  /** False: it may be lost with the machine. */
  readonly durable: boolean;
  readonly guard: Guard | undefined;
  /** Aborted: programs that run are ended. */
  readonly signal?: AbortSignal | undefined;
}

const FLAGS = ["-U", "flyte", "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-instructions"];

/**
 * Makes the data folder of a new server: a copy of one that `initdb` has made, with a password of its own. It stands there when it is
 * complete, or not at all.
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
 * Gives the user `flyte` a password, in a folder that no server has open.
 *
 * @throws ServerStartError when that fails.
 */
export async function alterPassword(postgres: string, { data, password, durable, guard, signal }: NewData): Promise<void> {
  const words = ["--single", "-D", data, "-c", "exit_on_error=on", ...(durable ? [] : ["-c", "fsync=off"]), "postgres"];
  await run(postgres, words, { paths: [data, postgres], guard, signal, input: `ALTER ROLE flyte PASSWORD '${password}'\n` });
}

/**
 * A data folder as `initdb` makes it, in the cache folder: made once for each release, since it takes most of a second of a processor.
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
  /** What it has to reach. */
  readonly paths: readonly string[];
  readonly guard: Guard | undefined;
  readonly signal: AbortSignal | undefined;
  readonly input?: string;
}

/** Runs a program as PostgreSQL's are run. */
async function run(program: string, words: readonly string[], { paths, guard, signal, input = "" }: Running): Promise<void> {
  const { command, args, uid, gid } = unprivileged(program, words, paths);
  try {
    const running = promisify(execFile)(command, args, {
      cwd: "/",
      ...(signal && { signal }),
      ...(uid === undefined ? {} : { uid, gid: gid as number }),
    });
    guard?.watch(running.child);
    // A program that ends before it has read says itself why.
    running.child.stdin?.on("error", () => undefined);
    running.child.stdin?.end(input);
    await running;
  } catch (cause) {
    throw new ServerStartError(`the database's folder cannot be made: ${(cause as Error).message}`, { cause });
  }
}
