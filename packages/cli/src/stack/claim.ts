import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Guard, identityOf, releaseLock, takeLock } from "@flyte-ts/local-servers";
import { StackError } from "./stack-error.js";
import type { StackFolders } from "./paths.js";
import { writeWhole } from "./write-whole.js";

/** A guard takes ten seconds at most. */
const GUARD_MS = 15_000;
const POLL_MS = 50;

interface Claimant {
  readonly guard: Guard;
  /** Aborts the wait for the processes of an earlier stack. */
  readonly signal: AbortSignal;
}

/**
 * Locks the folder of a stack for this process: two stacks on one folder would destroy each other's state. Waits until
 * the guard of a killed stack has ended its processes.
 *
 * @returns a function that releases the folder
 * @throws StackError when another stack runs on the folder, or an earlier one's processes do not end
 */
export async function claimFolder({ pidFile, root }: StackFolders, { guard, signal }: Claimant): Promise<() => void> {
  const holder = takeLock(pidFile);
  if (holder !== undefined) {
    const who = holder.pid === undefined ? "its process has just begun" : `process ${holder.pid}`;
    throw new StackError(`the stack in ${root} is running already (${who}): end it first, or use another folder with --data`);
  }
  const release = () => releaseLock(pidFile);
  const guardFile = join(root, "guard.pid");
  try {
    const { pid, identity } = readGuard(guardFile);
    for (let waited = 0; identity !== undefined && identityOf(pid) === identity; waited += POLL_MS) {
      if (waited > GUARD_MS) throw new StackError(`what a stack in ${root} that was killed has left does not end (process ${pid})`);
      await sleep(POLL_MS, undefined, { signal });
    }
    writeWhole(guardFile, `${guard.pid ?? ""}\n${guard.pid === undefined ? "" : (identityOf(guard.pid) ?? "")}\n`);
  } catch (error) {
    release();
    throw error;
  }
  return release;
}

function readGuard(file: string): { pid: number; identity: string | undefined } {
  try {
    const [pid, identity] = readFileSync(file, "utf8").split("\n");
    return { pid: Number(pid), identity: identity || undefined };
  } catch {
    return { pid: 0, identity: undefined };
  }
}
