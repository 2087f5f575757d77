import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { acquireLock, releaseLock } from "@flyte-ts/host";

/** Another service uses the data directory: two would corrupt its log. */
export class DataDirInUse extends Error {
  override readonly name = "DataDirInUse";
}

/** Interval at which a lock that names no process is read again, ms. */
const POLL_MS = 100;

/**
 * Locks a data directory for this process; takes over the lock of a process that has exited. Waits
 * while the lock names no process: another one may be writing it, or a power failure has emptied
 * it.
 *
 * @returns a function that releases it
 * @throws DataDirInUse
 */
export async function lockDataDir(dataDir: string): Promise<() => void> {
  const lock = join(dataDir, "lock");
  for (;;) {
    const holder = acquireLock(lock);
    if (holder === undefined) return () => releaseLock(lock);
    if (holder.pid !== undefined) throw new DataDirInUse(`the data directory ${dataDir} is in use by process ${holder.pid}`);
    await sleep(POLL_MS);
  }
}
