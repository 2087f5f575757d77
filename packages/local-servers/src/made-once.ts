import { accessSync, constants, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { exclusively } from "./exclusively.js";
import { ServerStartError } from "./server-process.js";

export interface Making {
  /** True when it exists, complete. */
  readonly isThere: () => boolean;
  readonly make: () => Promise<void>;
  /** Aborts the wait for another process that creates it. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Creates a file or folder of the cache unless it exists; concurrent callers share one creation. Creates its parent
 * folder too.
 *
 * @throws ServerStartError when the folder is not writable
 */
export async function madeOnce(path: string, { isThere, make, signal }: Making): Promise<void> {
  if (isThere()) return;
  makeWritable(dirname(path));
  const work = async () => {
    // The previous holder of the lock may have created it.
    if (!isThere()) await make();
  };
  await exclusively(`${path}.lock`, work, signal);
}

function makeWritable(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new ServerStartError(
      `the cache folder ${folder} cannot be used (${(cause as Error).message}): name one that this user may write to in FLYTE_TS_CACHE`,
      { cause },
    );
  }
}

/**
 * Creates a file or folder at a temporary path and renames it when complete; removes remains of an earlier attempt at
 * either path. One process at a time.
 */
export async function complete(path: string, make: (staged: string) => Promise<void>): Promise<void> {
  const staged = `${path}.new`;
  rmSync(staged, { recursive: true, force: true });
  try {
    await make(staged);
    rmSync(path, { recursive: true, force: true });
    renameSync(staged, path);
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
}
