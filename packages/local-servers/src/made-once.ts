import { accessSync, constants, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { exclusively } from "./exclusively.js";
import { ServerStartError } from "./server-process.js";

export interface Making {
  /** Whether it is there, complete. */
  readonly isThere: () => boolean;
  readonly make: () => Promise<void>;
  /** Aborted: the wait for another process that makes it ends. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Makes a file or folder of the cache unless it is there: once, whoever asks at the same time. The folder that it stands in is made too.
 *
 * @throws ServerStartError when nothing can be written there
 */
export async function madeOnce(path: string, { isThere, make, signal }: Making): Promise<void> {
  if (isThere()) return;
  makeWritable(dirname(path));
  const work = async () => {
    // Who had the lock before may have made it.
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
 * Makes a file or folder under another name, so that it stands at its own when it is complete; what is left of an earlier try at either
 * goes. One process at a time.
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
