import { homedir } from "node:os";
import { join } from "node:path";
import { cacheDir } from "@flyte-ts/host";
import { repositoryRoot } from "../state/paths.js";

/** Settings of pip, of programs that pip starts, and of Java. */
const INSTALL_VARIABLE = /^(PIP_.*|REQUESTS_CA_BUNDLE|JAVA_HOME)$/;

/**
 * Command that installs the packages of a plugin into the Python of a stack, with the plugin's name
 * as last argument, and the variables of this process that it needs in a pod.
 *
 * @param root data folder of the stack
 */
export function pythonInstall(
  root: string,
  env: Readonly<Record<string, string | undefined>>,
): { readonly command: readonly string[]; readonly environment: Readonly<Record<string, string>> } {
  const variables = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && INSTALL_VARIABLE.test(name) ? [[name, value] as const] : [],
  );
  return {
    command: [process.execPath, join(repositoryRoot, "packages", "cli", "dist", "main.js"), "python", "install", "--data", root, "--extra"],
    // A pod has a home of its own, without the cache and the configuration of pip.
    environment: { ...Object.fromEntries(variables), HOME: homedir(), FLYTE_TS_CACHE: cacheDir() },
  };
}
