import { setTimeout as sleep } from "node:timers/promises";
import { releaseLock, acquireLock } from "./file-lock.js";

const LOCK_POLL_INTERVAL_MS = 500;

/**
 * Runs the work in one process at a time, and one call at a time in this process. Takes over the
 * lock of a process that has exited.
 *
 * @param signal aborts the wait for the lock
 * @throws the signal's reason
 */
export async function withFileLock(lock: string, work: () => Promise<void>, signal?: AbortSignal): Promise<void> {
  while (acquireLock(lock) !== undefined) await sleep(LOCK_POLL_INTERVAL_MS, undefined, signal && { signal });
  try {
    await work();
  } finally {
    releaseLock(lock);
  }
}
