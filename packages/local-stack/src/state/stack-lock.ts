import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ProcessWatchdog, processIdentity, releaseLock, acquireLock, replaceFile } from "@flyte-ts/host";
import { StackError } from "../stack-error.js";
import type { StackPaths } from "./paths.js";

/** A watchdog takes ten seconds at most. */
const WATCHDOG_TIMEOUT_MS = 15_000;
const POLL_MS = 50;

interface LockOptions {
  readonly watchdog: ProcessWatchdog;
  /** Aborts the wait for the processes of an earlier stack. */
  readonly signal: AbortSignal;
}

/**
 * Locks the folder of a stack for this process: two stacks on one folder would destroy each other's
 * state. Waits until the watchdog of a killed stack has ended its processes.
 *
 * @returns a function that releases the folder
 * @throws StackError when another stack runs on the folder, or an earlier one's processes do not
 *   end
 */
export async function acquireStackLock({ pidFile, root }: StackPaths, { watchdog, signal }: LockOptions): Promise<() => void> {
  const holder = acquireLock(pidFile);
  if (holder !== undefined) {
    const description = holder.pid === undefined ? "its process has just started" : `process ${holder.pid}`;
    throw new StackError(`a stack already runs in ${root} (${description}): stop it first, or choose another folder with --data`);
  }
  const release = () => releaseLock(pidFile);
  const watchdogFile = join(root, "guard.pid");
  try {
    const { pid, identity } = readProcess(watchdogFile);
    for (let waited = 0; identity !== undefined && processIdentity(pid) === identity; waited += POLL_MS) {
      if (waited > WATCHDOG_TIMEOUT_MS) throw new StackError(`processes of a killed stack in ${root} are still running (watchdog ${pid})`);
      await sleep(POLL_MS, undefined, { signal });
    }
    replaceFile(watchdogFile, `${watchdog.pid ?? ""}\n${watchdog.pid === undefined ? "" : (processIdentity(watchdog.pid) ?? "")}\n`);
  } catch (error) {
    release();
    throw error;
  }
  return release;
}

/** Reports whether a stack runs on the folder. */
export function isStackRunning({ pidFile }: StackPaths): boolean {
  const { pid, identity } = readProcess(pidFile);
  return identity !== undefined && processIdentity(pid) === identity;
}

/** Reads the id and the identity of a process. */
function readProcess(file: string): { pid: number; identity: string | undefined } {
  try {
    const [pid, identity] = readFileSync(file, "utf8").split("\n");
    return { pid: Number(pid), identity: identity || undefined };
  } catch {
    return { pid: 0, identity: undefined };
  }
}
