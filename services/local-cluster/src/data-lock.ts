import { join } from "node:path";
import { acquireLock, releaseLock } from "@flyte-ts/host";

/** Another service uses the data directory: two would corrupt its log. */
export class DataDirInUse extends Error {
  override readonly name = "DataDirInUse";
}

/**
 * Locks a data directory for this process; takes over the lock of a process that has exited.
 *
 * @returns a function that releases it
 * @throws DataDirInUse
 */
export function lockDataDir(dataDir: string): () => void {
  const lock = join(dataDir, "lock");
  const holder = acquireLock(lock);
  if (holder === undefined) return () => releaseLock(lock);
  const user = holder.pid === undefined ? "another process" : `process ${holder.pid}`;
  throw new DataDirInUse(`the data directory ${dataDir} is in use by ${user}`);
}
