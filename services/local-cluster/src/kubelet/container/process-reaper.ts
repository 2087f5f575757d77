import { readdirSync, readFileSync } from "node:fs";
import { parseStat } from "../../process-stat.js";

/** Variables that mark the processes of a pod and of a container. */
export const POD_UID_ENV = "FLYTE_TS_POD_UID";
export const CONTAINER_ENV = "FLYTE_TS_CONTAINER";

export interface KillTarget {
  readonly podUid: string;
  /** `name/attempt`; undefined for all containers of the pod. */
  readonly container: string | undefined;
  /**
   * Session of the runner; finds processes whose environment was cleared. Only
   * for runners that lived a moment ago: later their number may name others.
   */
  readonly session: number | undefined;
}

const SCAN_INTERVAL_MS = 25;

/**
 * Kills what is left of containers: every process of their sessions or with their
 * marks in its environment, so also those that left the process group. One look
 * through /proc serves all that wait for one.
 */
export class ProcessReaper {
  readonly #waiting = new Map<KillTarget, { resolve: () => void; scans: number }>();
  #scheduled = false;

  /** Resolves when a look through all processes found none that fits. */
  killAll(target: KillTarget): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.set(target, { resolve, scans: 0 });
      if (this.#scheduled) return;
      this.#scheduled = true;
      setImmediate(() => this.#scan());
    });
  }

  /** Looks at once, and kills what it finds. */
  scanNow(): void {
    if (this.#waiting.size > 0) this.#scan();
  }

  #scan(): void {
    const found = new Set<KillTarget>();
    for (const name of readdirSync("/proc")) {
      const pid = Number(name);
      if (!Number.isInteger(pid) || pid === process.pid) continue;
      for (const target of this.#targetsOf(pid)) {
        found.add(target);
        sendSignal(pid, "SIGKILL");
      }
    }
    for (const [target, { resolve }] of this.#waiting) {
      if (found.has(target)) continue;
      this.#waiting.delete(target);
      resolve();
    }
    this.#scheduled = this.#waiting.size > 0;
    if (this.#scheduled) setTimeout(() => this.#scan(), SCAN_INTERVAL_MS);
  }

  #targetsOf(pid: number): KillTarget[] {
    const stat = parseStat(read(`/proc/${pid}/stat`));
    // The dead wait for their parent and are no longer ours to kill; threads of the kernel have no session.
    if (stat === undefined || stat.state === "Z" || stat.state === "X" || stat.session === 0) return [];
    const all = [...this.#waiting.keys()];
    if (all.every((target) => target.session === stat.session)) return all;
    const identity = identityOfEnvironment(read(`/proc/${pid}/environ`));
    return all.filter(
      (target) =>
        target.session === stat.session ||
        (identity.podUid === target.podUid && (target.container === undefined || identity.container === target.container)),
    );
  }
}

/** A file of /proc; empty when the process has ended or belongs to another user. */
function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

/** The marks in an environment (NUL-separated). */
function identityOfEnvironment(environment: string): { podUid: string | undefined; container: string | undefined } {
  if (!environment.includes(POD_UID_ENV)) return { podUid: undefined, container: undefined };
  const variables = environment.split("\0");
  const value = (name: string) => variables.find((variable) => variable.startsWith(`${name}=`))?.slice(name.length + 1);
  return { podUid: value(POD_UID_ENV), container: value(CONTAINER_ENV) };
}

/** Sends a signal to a process, or with a negative number to a group; one that is gone, or another user's, is passed over. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}
