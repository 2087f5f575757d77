import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Suspends a process (SIGSTOP) and resolves when none of its threads runs any more: on a busy
 * machine some continue for a while after the signal.
 */
export async function suspendProcess(pid: number): Promise<void> {
  process.kill(pid, "SIGSTOP");
  while (!readdirSync(`/proc/${pid}/task`).every((thread) => isStopped(pid, thread))) await sleep(1);
}

function isStopped(pid: number, thread: string): boolean {
  const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "latin1");
  return stat.slice(stat.lastIndexOf(")") + 2).startsWith("T");
}
