import { accessSync, constants, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";

/**
 * Cache of programs that are slow to download or build: `FLYTE_TS_CACHE`, default
 * ~/.cache/flyte-ts.
 */
export function cacheDir(): string {
  return process.env.FLYTE_TS_CACHE || join(homedir(), ".cache", "flyte-ts");
}

/** Finds the first program of that name on the PATH. */
export function findOnPath(name: string): string | undefined {
  return (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

/** False for an empty file: a power failure during an installation may leave one. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    const { size } = statSync(path);
    return size > 0;
  } catch {
    return false;
  }
}
