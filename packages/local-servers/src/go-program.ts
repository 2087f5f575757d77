import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { cacheFolder, executable, onPath } from "./cache-folder.js";
import { ServerStartError } from "./server-process.js";

export interface GoProgram {
  /** Name of the program, and of the file in the cache together with the version. */
  readonly name: string;
  readonly version: string;
  /** Folder below `go/` whose go.mod pins the module and whose go.sum has the sums of all that it needs. */
  readonly module: string;
  readonly package: string;
  readonly linkerFlags?: string;
  /** Environment variable that names a program to use instead. */
  readonly variable: string;
}

const LOCK_POLL_MS = 500;

/**
 * Path of the program: the one that its variable names, the cache, or the PATH;
 * else it is built from its Go module into the cache, once, whoever asks at the
 * same time.
 *
 * @throws ServerStartError when there is no Go or the build fails.
 */
export async function findGoProgram(program: GoProgram, onBuild?: (what: string) => void): Promise<string> {
  const named = process.env[program.variable];
  if (named) return named;
  const cache = cacheFolder();
  const cached = join(cache, `${program.name}-${program.version}`);
  if (executable(cached)) return cached;
  const found = onPath(program.name);
  if (found !== undefined) return found;
  if (onPath("go") === undefined) throw missing(program, "there is no Go on the PATH to build it with");
  mkdirSync(cache, { recursive: true });
  await exclusively(`${cached}.lock`, async () => {
    if (executable(cached)) return;
    onBuild?.(`${program.name} ${program.version}`);
    await build(program, cached);
  });
  return cached;
}

async function build(program: GoProgram, target: string): Promise<void> {
  const staged = `${target}.${process.pid}`;
  const flags = ["-mod=readonly", "-buildvcs=false", "-ldflags", `-s -w ${program.linkerFlags ?? ""}`];
  const child = spawn("go", ["build", ...flags, "-o", staged, program.package], {
    cwd: fileURLToPath(new URL(`../go/${program.module}`, import.meta.url)),
    env: { ...process.env, CGO_ENABLED: "0", GOWORK: "off", GOFLAGS: "" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-2_000);
  });
  const status = await new Promise<number | null>((resolve) => child.once("exit", resolve).once("error", () => resolve(null)));
  if (status !== 0) {
    rmSync(staged, { force: true });
    throw missing(program, `it could not be built: ${errors.trim()}`);
  }
  renameSync(staged, target);
}

function missing({ name, version, variable }: GoProgram, why: string): ServerStartError {
  return new ServerStartError(`${name} ${version}: ${why}\nPut it on the PATH, or name it in ${variable}.`);
}

/** Runs the work in one process at a time. A lock whose process is gone is taken over. */
async function exclusively(lock: string, work: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: "wx" });
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    if (!holderLives(lock)) rmSync(lock, { force: true });
    else await sleep(LOCK_POLL_MS);
  }
  try {
    await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function holderLives(lock: string): boolean {
  try {
    const pid = Number(readFileSync(lock, "utf8"));
    // Just created, its number not yet written.
    if (!(pid > 0)) return true;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
