import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const LOCK_POLL_MS = 500;

/** Runs the work in one process at a time. A lock whose process is gone is taken over. */
export async function exclusively(lock: string, work: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: "wx" });
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    if (!holderLives(lock)) rmSync(lock, { force: true });
    else await sleep(LOCK_POLL_MS);
  }
  try {
    await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function holderLives(lock: string): boolean {
  try {
    const pid = Number(readFileSync(lock, "utf8"));
    // Just created, its number not yet written.
    if (!(pid > 0)) return true;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
