import { existsSync, readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/**
 * Finds the Python environment with flytekit, flyteidl and grpcio in the cache of the local stack;
 * the newest when there are several.
 *
 * @throws Error when no stack has been started on this machine yet
 */
export function cachedPython(env: NodeJS.ProcessEnv = process.env): string {
  const cache = env.FLYTE_TS_CACHE || join(homedir(), ".cache", "flyte-ts");
  const complete = (existsSync(cache) ? readdirSync(cache) : [])
    .filter((name) => name.startsWith("python-"))
    .map((name) => join(cache, name, "complete"))
    .filter((file) => existsSync(file))
    .sort((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs);
  if (complete[0] === undefined) throw new Error(`no Python environment in ${cache}: "npm start -- --exit" makes it`);
  return join(complete[0], "..", "bin", "python");
}
