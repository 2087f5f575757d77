import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { withFileLock, replaceFile, runProgram } from "@flyte-ts/host";
import { PythonEnvironmentError } from "./python-environment.js";
import { isComplete, createStackEnvironment, stackEnvironment, isBasedOn } from "./stack-environment.js";

const PIP_FLAGS = ["--disable-pip-version-check", "--no-input"];

/**
 * Folders of a stack's own environment, which may not exist, and of the shared one that it is based
 * on.
 */
export interface StackPython {
  /** Folder of the stack's own environment. */
  readonly own: string;
  /** Folder of the shared environment. */
  readonly shared: string;
  /** Aborts running programs. */
  readonly signal: AbortSignal;
}

/** Folder of programs for clients and tasks of the stack: of its own environment if it exists. */
export function binDir({ own, shared }: StackPython): string {
  return join(isComplete(own) ? own : shared, "bin");
}

/**
 * Installs packages into the stack's own environment, which is created if missing; the shared one
 * is not changed.
 *
 * @param pipArgs arguments of `pip install`: packages, files, flags
 * @throws PythonEnvironmentError with the last lines of pip
 */
export async function installPackages(python: StackPython, pipArgs: readonly string[]): Promise<void> {
  await withEnvironmentLock(python, async () => {
    await updateEnvironment(python);
    await pip(python, ["install", ...pipArgs]);
  });
}

/**
 * Removes packages from the stack's own environment, not from the shared one.
 *
 * @throws PythonEnvironmentError with the last lines of pip
 */
export async function uninstallPackages(python: StackPython, pipArgs: readonly string[]): Promise<void> {
  await withEnvironmentLock(python, async () => {
    if (isComplete(python.own)) await pip(python, ["uninstall", "--yes", ...pipArgs]);
  });
}

/**
 * Lists the packages that tasks of the stack find, as `name==version`: its own, and the shared ones
 * that it does not override.
 */
export async function listPackages(python: StackPython): Promise<{ own: string[]; shared: string[] }> {
  const nameOf = (line: string) => line.split("==")[0]?.toLowerCase();
  const own = isComplete(python.own) ? await listPackagesIn(python, stackEnvironment(python.own).packages) : [];
  const hidden = new Set(own.map(nameOf));
  const all = await listPackagesIn(python, stackEnvironment(python.shared).packages);
  return { own, shared: all.filter((line) => !hidden.has(nameOf(line))) };
}

/**
 * Updates the stack's Python at its start: rebuilds an own environment that is based on an older
 * shared one, with the same packages, and installs a requirements file when the file, or the
 * environment, has changed.
 *
 * @param onInstall called before slow work
 * @throws PythonEnvironmentError with the last lines of pip
 */
export async function preparePython(
  python: StackPython,
  { requirements, onInstall }: { requirements: string | undefined; onInstall: (text: string) => void },
): Promise<void> {
  if (requirements !== undefined && !existsSync(requirements))
    throw new PythonEnvironmentError(`requirements file not found: ${requirements}`);
  if (requirements === undefined && !isComplete(python.own) && !existsSync(pendingPackagesFile(python))) return;
  await withEnvironmentLock(python, async () => {
    if (!isCurrent(python)) onInstall("creating the Python environment of this stack");
    await updateEnvironment(python);
    if (requirements === undefined) return;
    const digestFile = join(python.own, "requirements.digest");
    const digest = createHash("sha256").update(readFileSync(requirements)).digest("hex");
    if (existsSync(digestFile) && readFileSync(digestFile, "utf8") === digest) return;
    onInstall(`installing the packages of ${requirements}`);
    await pip(python, ["install", "-r", requirements]);
    replaceFile(digestFile, digest);
  });
}

const isCurrent = (python: StackPython): boolean =>
  isComplete(python.own) && isBasedOn(python.own, python.shared) && !existsSync(pendingPackagesFile(python));

/** Packages of an environment being rebuilt, kept until they are installed again. */
const pendingPackagesFile = ({ own }: StackPython): string => `${own}.packages`;

async function updateEnvironment(python: StackPython): Promise<void> {
  if (isCurrent(python)) return;
  const { own, shared, signal } = python;
  const restore = pendingPackagesFile(python);
  if (isComplete(own) && !existsSync(restore))
    replaceFile(restore, (await listPackagesIn(python, stackEnvironment(own).packages, ["freeze"])).map((line) => `${line}\n`).join(""));
  if (!isComplete(own) || !isBasedOn(own, shared)) {
    await createStackEnvironment(own, shared, signal).catch((cause: unknown) => {
      throw environmentError("the Python environment of this stack could not be created", cause, signal);
    });
  }
  if (existsSync(restore) && readFileSync(restore, "utf8") !== "") await pip(python, ["install", "-r", restore]);
  rmSync(restore, { force: true });
}

/** Lines of `pip list` or `pip freeze` for one folder of packages. */
async function listPackagesIn({ shared, signal }: StackPython, folder: string, pipArgs = ["list", "--format=freeze"]): Promise<string[]> {
  const text = await runProgram(join(shared, "bin", "python"), ["-m", "pip", ...pipArgs, ...PIP_FLAGS, "--path", folder], { signal }).catch(
    (cause: unknown) => {
      throw environmentError("the packages could not be listed", cause, signal);
    },
  );
  return text.split("\n").filter((line) => line !== "");
}

async function pip({ own, signal }: StackPython, [command = "", ...pipArgs]: readonly string[]): Promise<void> {
  await runProgram(stackEnvironment(own).python, ["-m", "pip", command, "--quiet", ...PIP_FLAGS, ...pipArgs], { signal }).catch(
    (cause: unknown) => {
      throw environmentError(`pip ${command} failed`, cause, signal);
    },
  );
}

function environmentError(what: string, cause: unknown, signal: AbortSignal): PythonEnvironmentError {
  signal.throwIfAborted();
  return new PythonEnvironmentError(`${what}: ${(cause as Error).message}`, { cause });
}

/** Runs the work in one process at a time. */
const withEnvironmentLock = ({ own, signal }: StackPython, work: () => Promise<void>): Promise<void> =>
  withFileLock(`${own}.lock`, work, signal);
