import { spawn } from "node:child_process";
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder } from "./cache-folder.js";
import type { FindOptions } from "./find-options.js";
import { complete, madeOnce } from "./made-once.js";
import { ServerStartError } from "./server-process.js";

export interface NpmProgram {
  /**
   * Name of the program, of its folder below `npm/` whose lock file pins all dependencies, and, with the version, of
   * its folder in the cache.
   */
  readonly name: string;
  readonly version: string;
  /** Its main module, below node_modules. */
  readonly module: string;
  /** Environment variable that names such a module to use instead. */
  readonly variable: string;
}

/**
 * Finds the program's module: its variable, or the cache; else installs it into the cache, where concurrent callers
 * share one installation.
 *
 * @throws ServerStartError when it is missing and cannot or must not be installed.
 */
export async function findNpmProgram(program: NpmProgram, { onBuild, get = true }: FindOptions = {}): Promise<string> {
  const { name, version, variable } = program;
  const named = process.env[variable];
  if (named) return named;
  const cached = join(cacheFolder(), `${name}-${version}`);
  const module = join(cached, "node_modules", program.module);
  const isThere = () => existsSync(module);
  if (!get && !isThere()) throw missing(program, "it is not installed");
  const make = () => {
    onBuild?.(`${name} ${version}`);
    return complete(cached, (staged) => install(program, staged));
  };
  await madeOnce(cached, { isThere, make });
  return module;
}

async function install(program: NpmProgram, staged: string): Promise<void> {
  cpSync(fileURLToPath(new URL(`../npm/${program.name}`, import.meta.url)), staged, { recursive: true });
  const words = ["ci", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const child = spawn("npm", words, { cwd: staged, stdio: ["ignore", "ignore", "pipe"] });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-2_000);
  });
  const status = await new Promise<number | null>((resolve) => child.once("exit", resolve).once("error", () => resolve(null)));
  if (status !== 0) throw missing(program, `it could not be installed: ${errors.trim()}`);
}

function missing({ name, version, variable }: NpmProgram, why: string): ServerStartError {
  return new ServerStartError(`${name} ${version}: ${why}\nName its module in ${variable}.`);
}
