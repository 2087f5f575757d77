import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { exclusively } from "@flyte-ts/local-servers";
import { PythonEnvironmentError } from "../stack/python-environment.js";
import { writeWhole } from "../stack/write-whole.js";
import { isMade, makeOwnEnvironment, ownEnvironment, restsOn } from "./own-environment.js";
import { runProgram } from "./run-program.js";

const UNATTENDED = ["--disable-pip-version-check", "--no-input"];

/** Folders of a stack's own environment, which may not exist, and of the shared one that it is based on. */
export interface StackPython {
  /** Folder of the stack's own environment. */
  readonly own: string;
  /** Folder of the shared environment. */
  readonly shared: string;
  /** Aborts running programs. */
  readonly signal: AbortSignal;
}

/** Folder of programs for clients and tasks of the stack: of its own environment if it exists. */
export function binOf({ own, shared }: StackPython): string {
  return join(isMade(own) ? own : shared, "bin");
}

/**
 * Installs packages into the stack's own environment, which is created if missing; the shared one is not changed.
 *
 * @param words arguments of `pip install`: packages, files, flags
 * @throws PythonEnvironmentError with the last lines of pip
 */
export async function installPackages(python: StackPython, words: readonly string[]): Promise<void> {
  await alone(python, async () => {
    await bringUpToDate(python);
    await pip(python, ["install", ...words]);
  });
}

/**
 * Removes packages from the stack's own environment, not from the shared one.
 *
 * @throws PythonEnvironmentError with the last lines of pip
 */
export async function uninstallPackages(python: StackPython, words: readonly string[]): Promise<void> {
  await alone(python, async () => {
    if (isMade(python.own)) await pip(python, ["uninstall", "--yes", ...words]);
  });
}

/** Lists the packages that tasks of the stack find, as `name==version`: its own, and the shared ones that it does not override. */
export async function listPackages(python: StackPython): Promise<{ own: string[]; shared: string[] }> {
  const nameOf = (line: string) => line.split("==")[0]?.toLowerCase();
  const own = isMade(python.own) ? await packagesIn(python, ownEnvironment(python.own).packages) : [];
  const hidden = new Set(own.map(nameOf));
  const all = await packagesIn(python, ownEnvironment(python.shared).packages);
  return { own, shared: all.filter((line) => !hidden.has(nameOf(line))) };
}

/**
 * Updates the stack's Python at its start: rebuilds an own environment that is based on an older shared one, with the
 * same packages, and installs a requirements file when the file, or the environment, has changed.
 *
 * @param onInstall called before slow work
 * @throws PythonEnvironmentError with the last lines of pip
 */
export async function preparePython(
  python: StackPython,
  { requirements, onInstall }: { requirements: string | undefined; onInstall: (text: string) => void },
): Promise<void> {
  if (requirements !== undefined && !existsSync(requirements))
    throw new PythonEnvironmentError(`requirements: there is no file ${requirements}`);
  if (requirements === undefined && !isMade(python.own) && !existsSync(restoreFile(python))) return;
  await alone(python, async () => {
    if (!isCurrent(python)) onInstall("making the Python environment of this stack");
    await bringUpToDate(python);
    if (requirements === undefined) return;
    const noted = join(python.own, "requirements.digest");
    const digest = createHash("sha256").update(readFileSync(requirements)).digest("hex");
    if (existsSync(noted) && readFileSync(noted, "utf8") === digest) return;
    onInstall(`installing the packages of ${requirements}`);
    await pip(python, ["install", "-r", requirements]);
    writeWhole(noted, digest);
  });
}

const isCurrent = (python: StackPython): boolean =>
  isMade(python.own) && restsOn(python.own, python.shared) && !existsSync(restoreFile(python));

/** Packages of an environment being rebuilt, kept until they are installed again. */
const restoreFile = ({ own }: StackPython): string => `${own}.packages`;

async function bringUpToDate(python: StackPython): Promise<void> {
  if (isCurrent(python)) return;
  const { own, shared, signal } = python;
  const restore = restoreFile(python);
  if (isMade(own) && !existsSync(restore))
    writeWhole(restore, (await packagesIn(python, ownEnvironment(own).packages, ["freeze"])).map((line) => `${line}\n`).join(""));
  if (!isMade(own) || !restsOn(own, shared)) {
    await makeOwnEnvironment(own, shared, signal).catch((cause: unknown) => {
      throw failed("the Python environment of this stack could not be made", cause, signal);
    });
  }
  if (existsSync(restore) && readFileSync(restore, "utf8") !== "") await pip(python, ["install", "-r", restore]);
  rmSync(restore, { force: true });
}

/** Lines of `pip list` or `pip freeze` for one folder of packages. */
async function packagesIn({ shared, signal }: StackPython, folder: string, words = ["list", "--format=freeze"]): Promise<string[]> {
  const text = await runProgram(join(shared, "bin", "python"), ["-m", "pip", ...words, ...UNATTENDED, "--path", folder], signal).catch(
    (cause: unknown) => {
      throw failed("the packages could not be listed", cause, signal);
    },
  );
  return text.split("\n").filter((line) => line !== "");
}

async function pip({ own, signal }: StackPython, [command = "", ...words]: readonly string[]): Promise<void> {
  await runProgram(ownEnvironment(own).python, ["-m", "pip", command, "--quiet", ...UNATTENDED, ...words], signal).catch(
    (cause: unknown) => {
      throw failed(`pip ${command} failed`, cause, signal);
    },
  );
}

function failed(what: string, cause: unknown, signal: AbortSignal): PythonEnvironmentError {
  signal.throwIfAborted();
  return new PythonEnvironmentError(`${what}: ${(cause as Error).message}`, { cause });
}

/** Runs the work in one process at a time. */
const alone = ({ own, signal }: StackPython, work: () => Promise<void>): Promise<void> => exclusively(`${own}.lock`, work, signal);
