import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { madeOnce } from "@flyte-ts/local-servers";
import { cacheFolder, repositoryRoot } from "./paths.js";

/** A virtual environment with flytekit and what the examples import; its `bin` goes on the PATH of pods. */
export interface PythonEnvironment {
  readonly bin: string;
}

/** What tasks import of its packages beside flytekit: loaded before they do. Those that others need come first. */
export const MODULES_AHEAD: readonly string[] = [
  "numpy",
  "pyarrow.parquet",
  "pandas",
  "scipy.stats",
  "sklearn.datasets",
  "sklearn.linear_model",
  "sklearn.pipeline",
  "sklearn.preprocessing",
];

/** Python is missing or the packages cannot be installed; the message says what to do. */
export class PythonEnvironmentError extends Error {
  override readonly name = "PythonEnvironmentError";
}

/** `uv` installs in seconds what takes pip minutes to resolve. */
const UV = "uv==0.13.9";

/**
 * Creates the environment of `examples/python/requirements.txt` once, in the cache
 * folder, under a name made of the requirements: a change of them makes a new one.
 *
 * @param onInstall told when there is something slow to do
 */
export async function ensurePythonEnvironment(onInstall: (text: string) => void): Promise<PythonEnvironment> {
  const requirements = join(repositoryRoot, "examples", "python", "requirements.txt");
  const version = await output("python3", ["-c", "import sys; print('%d.%d' % sys.version_info[:2])"]).catch((cause: unknown) => {
    throw new PythonEnvironmentError("python3 was not found: install Python 3.9 or newer with its venv module", { cause });
  });
  const digest = createHash("sha256").update(readFileSync(requirements)).digest("hex").slice(0, 12);
  const folder = join(cacheFolder(), `python-${version}-${digest}`);
  const environment = { bin: join(folder, "bin") };
  const done = join(folder, "complete");
  const making = { folder, requirements, version, onInstall };
  await madeOnce(folder, { isThere: () => existsSync(done), make: () => make(making) });
  return environment;
}

interface Making {
  readonly folder: string;
  readonly requirements: string;
  readonly version: string;
  readonly onInstall: (text: string) => void;
}

async function make({ folder, requirements, version, onInstall }: Making): Promise<void> {
  const done = join(folder, "complete");
  onInstall(`creating a Python ${version} environment with flytekit and scikit-learn (once, about a minute)`);
  rmSync(folder, { recursive: true, force: true });
  try {
    await output("python3", ["-m", "venv", folder]);
    const python = join(folder, "bin", "python");
    const quiet = ["--quiet", "--disable-pip-version-check"];
    const withUv = await output(python, ["-m", "pip", "install", ...quiet, UV])
      .then(() => output(join(folder, "bin", "uv"), ["pip", "install", "--quiet", "--native-tls", "--python", python, "-r", requirements]))
      .then(() => true)
      .catch(() => false);
    if (!withUv) await output(python, ["-m", "pip", "install", ...quiet, "-r", requirements]);
    // Byte code once here instead of in every pod's first import.
    await output(python, ["-m", "compileall", "-q", "-j", "0", join(folder, "lib")]).catch(() => undefined);
  } catch (cause) {
    rmSync(folder, { recursive: true, force: true });
    throw new PythonEnvironmentError(`the Python environment could not be made: ${(cause as Error).message}`, { cause });
  }
  writeFileSync(`${done}.new`, "");
  renameSync(`${done}.new`, done);
}

function output(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    const keep = (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-4_000);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      if (code === 0) resolve(text.trim());
      else reject(new Error(`${command} ${args.slice(0, 3).join(" ")} … ended with ${signal ?? `status ${code}`}: ${text.trim()}`));
    });
  });
}
