import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findOnPath, isExecutable } from "@flyte-ts/host";
import { repositoryRoot } from "../state/paths.js";
import { PythonEnvironmentError } from "./python-environment.js";
import { installPackages, type StackPython } from "./stack-packages.js";

const FOLDER = join(repositoryRoot, "examples", "plugins");
const REQUIREMENTS = /^requirements-([a-z]+)\.txt$/;

/** Names of the plugins whose packages are known: spark, ray, dask. */
export function extraNames(): readonly string[] {
  return readdirSync(FOLDER).flatMap((file) => REQUIREMENTS.exec(file)?.[1] ?? []);
}

/**
 * Installs the packages of a plugin into the stack's own environment, unless tasks of the stack
 * find them already.
 *
 * @param onInstall called before slow work
 * @throws PythonEnvironmentError for an unknown plugin, missing Java, or with the last lines of pip
 */
export async function installExtra(python: StackPython, extra: string, onInstall: (text: string) => void): Promise<void> {
  if (!extraNames().includes(extra))
    throw new PythonEnvironmentError(`unknown extra ${JSON.stringify(extra)}: there are ${extraNames().join(", ")}`);
  if (extra === "spark" && !hasJava())
    throw new PythonEnvironmentError("Spark needs Java 17 or newer: install a JDK, so that java is on the PATH or in JAVA_HOME");
  const file = join(FOLDER, `requirements-${extra}.txt`);
  if (requiredPackages(file).every((required) => isInstalled(python, required))) return;
  onInstall(`installing ${extra} for this stack (once, some minutes)`);
  await installPackages(python, ["-r", file]).catch((error: unknown) => {
    python.signal.throwIfAborted();
    const remedy = `once the cause is removed, install the packages with: npx flyte-ts python install --extra ${extra}`;
    throw new PythonEnvironmentError(`${(error as Error).message}\n${remedy}`, { cause: error });
  });
}

interface RequiredPackage {
  readonly name: string;
  /** Undefined: any. */
  readonly version: string | undefined;
}

function requiredPackages(file: string): readonly RequiredPackage[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line) => {
      const [, name, version] = /^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?(?:==([^\s;,]+))?/.exec(line) ?? [];
      return name === undefined ? [] : [{ name, version }];
    });
}

/** Looks for the package's metadata in the stack's environment and in the shared one. */
function isInstalled({ own, shared }: StackPython, { name, version }: RequiredPackage): boolean {
  // Source: the escaped names of the PyPA specification of recorded projects.
  const prefix = name.toLowerCase().replaceAll(/[-_.]+/g, "_");
  return [own, shared].some((folder) =>
    globSync(join(folder, "lib", "python*", "site-packages", `*.dist-info`)).some((path) => {
      const [, found, foundVersion] = /([^/]+)-([^/-]+)\.dist-info$/.exec(path) ?? [];
      return found?.toLowerCase().replaceAll(/[-_.]+/g, "_") === prefix && (version === undefined || version === foundVersion);
    }),
  );
}

function hasJava(): boolean {
  const home = process.env["JAVA_HOME"] ?? "";
  return (home !== "" && isExecutable(join(home, "bin", "java"))) || existsSync(findOnPath("java") ?? "");
}
