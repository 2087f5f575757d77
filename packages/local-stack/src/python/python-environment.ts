import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createOnce, runProgram, cacheDir } from "@flyte-ts/host";
import { repositoryRoot } from "../state/paths.js";

/**
 * A virtual environment with flytekit and the packages of the examples; its `bin` goes on the PATH
 * of pods.
 */
export interface PythonEnvironment {
  readonly folder: string;
  readonly bin: string;
}

/** Modules that tasks import besides flytekit, preloaded. Dependencies come first. */
export const PRELOADED_MODULES: readonly string[] = [
  "numpy",
  "pyarrow.parquet",
  "pandas",
  "scipy.stats",
  "sklearn.datasets",
  "sklearn.linear_model",
  "sklearn.pipeline",
  "sklearn.preprocessing",
];

/** Python is missing or the packages cannot be installed; the message has the remedy. */
export class PythonEnvironmentError extends Error {
  override readonly name = "PythonEnvironmentError";
}

/** `uv` installs in seconds where pip needs minutes to resolve. */
const UV = "uv==0.13.9";
const UV_INSTALL = ["pip", "install", "--quiet", "--native-tls", "--python"];

/** The oldest Python for which the pinned packages have releases. */
const MIN_PYTHON = [3, 10] as const;

interface EnvironmentOptions {
  /** Called before slow work. */
  readonly onInstall: (text: string) => void;
  /** Aborts running programs, and removes an incomplete environment. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Creates the environment of `examples/python/requirements.txt` once, in the cache folder, under a
 * name derived from the requirements: a change of them creates a new one.
 *
 * @throws PythonEnvironmentError when Python is missing, or the environment cannot be created
 */
export async function ensurePythonEnvironment({ onInstall, signal }: EnvironmentOptions): Promise<PythonEnvironment> {
  const requirements = join(repositoryRoot, "examples", "python", "requirements.txt");
  const version = await pythonVersion(signal);
  const digest = createHash("sha256").update(readFileSync(requirements)).digest("hex").slice(0, 12);
  const folder = join(cacheDir(), `python-${version}-${digest}`);
  const environment = { folder, bin: join(folder, "bin") };
  const completeFile = join(folder, "complete");
  const options = { folder, requirements, version, onInstall, signal };
  await createOnce(folder, { exists: () => existsSync(completeFile), create: () => make(options), signal });
  return environment;
}

/**
 * Version of `python3`, such as `3.12`. Python and its start-up modules may print warnings before
 * it, about the locale for instance.
 */
async function pythonVersion(signal: AbortSignal | undefined): Promise<string> {
  const args = ["-c", "import sys; print('python-version=%d.%d' % sys.version_info[:2])"];
  const output = await runProgram("python3", args, { signal }).catch((cause: unknown) => {
    signal?.throwIfAborted();
    throw new PythonEnvironmentError(`python3 cannot be run: install Python ${MIN_PYTHON.join(".")} or newer with its venv module`, {
      cause,
    });
  });
  const [, major, minor] = /^python-version=(\d+)\.(\d+)$/m.exec(output) ?? [];
  if (major === undefined || minor === undefined) throw new PythonEnvironmentError(`python3 reports no version: ${output}`);
  if (Number(major) < MIN_PYTHON[0] || (Number(major) === MIN_PYTHON[0] && Number(minor) < MIN_PYTHON[1])) {
    throw new PythonEnvironmentError(
      `python3 is Python ${major}.${minor}: install Python ${MIN_PYTHON.join(".")} or newer with its venv module`,
    );
  }
  return `${major}.${minor}`;
}

interface Making extends EnvironmentOptions {
  readonly folder: string;
  readonly requirements: string;
  readonly version: string;
}

async function make({ folder, requirements, version, onInstall, signal }: Making): Promise<void> {
  const done = join(folder, "complete");
  onInstall(`creating a Python ${version} environment with flytekit and scikit-learn (once, about a minute)`);
  rmSync(folder, { recursive: true, force: true });
  try {
    await runProgram("python3", ["-m", "venv", folder], { signal });
    const python = join(folder, "bin", "python");
    const quiet = ["--quiet", "--disable-pip-version-check"];
    const withUv = await runProgram(python, ["-m", "pip", "install", ...quiet, UV], { signal })
      .then(() => runProgram(join(folder, "bin", "uv"), [...UV_INSTALL, python, "-r", requirements], { signal }))
      .then(() => true)
      .catch(() => false);
    if (!withUv) await runProgram(python, ["-m", "pip", "install", ...quiet, "-r", requirements], { signal });
    // Compiles byte code once, instead of in every pod's first import.
    await runProgram(python, ["-m", "compileall", "-q", "-j", "0", join(folder, "lib")], { signal }).catch(() => undefined);
  } catch (cause) {
    rmSync(folder, { recursive: true, force: true });
    signal?.throwIfAborted();
    throw new PythonEnvironmentError(`the Python environment could not be created: ${(cause as Error).message}`, { cause });
  }
  writeFileSync(`${done}.new`, "");
  renameSync(`${done}.new`, done);
}
