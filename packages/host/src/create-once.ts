import { accessSync, closeSync, constants, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { withFileLock } from "./with-file-lock.js";

/** The cache directory cannot be used; the message has the remedy. */
export class CacheError extends Error {
  override readonly name = "CacheError";
}

export interface Creation {
  /** True when it exists, complete. */
  readonly exists: () => boolean;
  readonly create: () => Promise<void>;
  /** Aborts the wait for another process that creates it. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Creates a file or folder of the cache unless it exists; concurrent callers share one creation.
 * Creates its parent folder too.
 *
 * @throws CacheError when the folder is not writable
 */
export async function createOnce(path: string, { exists, create, signal }: Creation): Promise<void> {
  if (exists()) return;
  ensureWritableDir(dirname(path));
  const createUnlessExists = async () => {
    // The previous holder of the lock may have created it.
    if (!exists()) await create();
  };
  await withFileLock(`${path}.lock`, createUnlessExists, signal);
}

function ensureWritableDir(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true });
    accessSync(dir, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new CacheError(
      `the cache folder ${dir} cannot be used (${(cause as Error).message}): name one that this user may write to in FLYTE_TS_CACHE`,
      { cause },
    );
  }
}

/**
 * Creates a file or folder at a temporary path and renames it when complete; removes remains of an
 * earlier attempt at either path. One process at a time.
 */
export async function replaceAtomically(path: string, create: (staged: string) => Promise<void>): Promise<void> {
  const staged = `${path}.new`;
  rmSync(staged, { recursive: true, force: true });
  try {
    await create(staged);
    if (statSync(staged).isFile()) syncFile(staged);
    rmSync(path, { recursive: true, force: true });
    renameSync(staged, path);
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
}

/** Writes a file to the disk, so that a power failure does not leave its name without content. */
function syncFile(path: string): void {
  const fd = openSync(path, "r+");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
