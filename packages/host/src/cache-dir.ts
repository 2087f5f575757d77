import { accessSync, constants } from "node:fs";
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

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
