import { captureTail, cacheDir, replaceAtomically, createOnce } from "@flyte-ts/host";
import { spawn } from "node:child_process";
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { InstallOptions } from "./install-options.js";
import { ServerStartError } from "@flyte-ts/local-servers";

export interface NpmProgram {
  /**
   * Name of the program, of its folder below `npm/` whose lock file pins all dependencies, and,
   * with the version, of its folder in the cache.
   */
  readonly name: string;
  readonly version: string;
  /** Main module of the program, below node_modules. */
  readonly module: string;
  /** Environment variable that names such a module to use instead. */
  readonly overrideVariable: string;
}

/**
 * Finds the program's module: its variable, or the cache; else installs it into the cache, where
 * concurrent callers share one installation.
 *
 * @throws ServerStartError when it is missing and cannot or must not be installed.
 */
export async function findNpmProgram(program: NpmProgram, { onProgress, install = true }: InstallOptions = {}): Promise<string> {
  const { name, version, overrideVariable } = program;
  const override = process.env[overrideVariable];
  if (override) return override;
  const cached = join(cacheDir(), `${name}-${version}`);
  const module = join(cached, "node_modules", program.module);
  const exists = () => existsSync(module);
  if (!install && !exists()) throw unavailable(program, "it is not installed");
  const create = () => {
    onProgress?.(`${name} ${version}`);
    return replaceAtomically(cached, (staged) => installProgram(program, staged));
  };
  await createOnce(cached, { exists, create });
  return module;
}

async function installProgram(program: NpmProgram, staged: string): Promise<void> {
  cpSync(fileURLToPath(new URL(`../../npm/${program.name}`, import.meta.url)), staged, { recursive: true });
  const args = ["ci", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const child = spawn("npm", args, { cwd: staged, stdio: ["ignore", "ignore", "pipe"] });
  const errors = captureTail([child.stderr], 2_000);
  const status = await new Promise<number | null>((resolve) => child.once("exit", resolve).once("error", () => resolve(null)));
  if (status !== 0) throw unavailable(program, `it could not be installed: ${errors().trim()}`);
}

function unavailable({ name, version, overrideVariable }: NpmProgram, reason: string): ServerStartError {
  return new ServerStartError(`${name} ${version}: ${reason}\nSet ${overrideVariable} to the path of its module.`);
}
