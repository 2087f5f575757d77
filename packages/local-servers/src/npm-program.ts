import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder } from "./cache-folder.js";
import { exclusively } from "./exclusively.js";
import type { FindOptions } from "./find-options.js";
import { ServerStartError } from "./server-process.js";

export interface NpmProgram {
  /** Name of the program, of its folder below `npm/` whose lock file pins all that it needs, and of that in the cache together with the version. */
  readonly name: string;
  readonly version: string;
  /** Module that starts it, below node_modules. */
  readonly module: string;
  /** Environment variable that names such a module to use instead. */
  readonly variable: string;
}

/**
 * Path of the program's module: the one that its variable names, or of the cache; else it is installed into the cache, once, whoever
 * asks at the same time.
 *
 * @throws ServerStartError when it is not there and must not or cannot be installed.
 */
export async function findNpmProgram(program: NpmProgram, { onBuild, get = true }: FindOptions = {}): Promise<string> {
  const { name, version, variable } = program;
  const named = process.env[variable];
  if (named) return named;
  const cached = join(cacheFolder(), `${name}-${version}`);
  const module = join(cached, "node_modules", program.module);
  if (existsSync(module)) return module;
  if (!get) throw missing(program, "it is not installed");
  mkdirSync(cacheFolder(), { recursive: true });
  await exclusively(`${cached}.lock`, async () => {
    if (existsSync(module)) return;
    onBuild?.(`${name} ${version}`);
    await install(program, cached);
  });
  return module;
}

async function install(program: NpmProgram, target: string): Promise<void> {
  const staged = `${target}.${process.pid}`;
  cpSync(fileURLToPath(new URL(`../npm/${program.name}`, import.meta.url)), staged, { recursive: true });
  const words = ["ci", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const child = spawn("npm", words, { cwd: staged, stdio: ["ignore", "ignore", "pipe"] });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-2_000);
  });
  const status = await new Promise<number | null>((resolve) => child.once("exit", resolve).once("error", () => resolve(null)));
  if (status === 0) {
    rmSync(target, { recursive: true, force: true });
    renameSync(staged, target);
    return;
  }
  rmSync(staged, { recursive: true, force: true });
  throw missing(program, `it could not be installed: ${errors.trim()}`);
}

function missing({ name, version, variable }: NpmProgram, why: string): ServerStartError {
  return new ServerStartError(`${name} ${version}: ${why}\nName its module in ${variable}.`);
}
