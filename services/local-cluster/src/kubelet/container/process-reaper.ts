import { readdirSync, readFileSync } from "node:fs";
import { parseStat } from "../../process-stat.js";

/** Environment variables that identify the processes of a pod and of a container. */
export const POD_UID_ENV = "FLYTE_TS_POD_UID";
export const CONTAINER_ENV = "FLYTE_TS_CONTAINER";

export interface KillTarget {
  readonly podUid: string;
  /** `name/attempt`; undefined: all containers of the pod. */
  readonly container: string | undefined;
  /**
   * Session of the runner, to find processes with a cleared environment. Only for runners that ran
   * just now, since ids are reused.
   */
  readonly session: number | undefined;
}

const SCAN_INTERVAL_MS = 25;

/**
 * Kills remaining processes of containers: those of their sessions, or with their variables in the
 * environment, including those that left the process group. One scan of /proc serves all pending
 * requests.
 */
export class ProcessReaper {
  readonly #waiting = new Map<KillTarget, { resolve: () => void; scans: number }>();
  #scheduled = false;

  /** Resolves when a scan finds no more matching process. */
  killAll(target: KillTarget): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.set(target, { resolve, scans: 0 });
      if (this.#scheduled) return;
      this.#scheduled = true;
      setImmediate(() => this.#scan());
    });
  }

  /** Scans at once and kills matching processes. */
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
    // Zombies wait for their parent and cannot be killed; kernel threads have no session.
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

/** Reads a file of /proc; empty when the process has exited or belongs to another user. */
function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

/** Reads the identifying variables from a NUL-separated environment. */
function identityOfEnvironment(environment: string): { podUid: string | undefined; container: string | undefined } {
  if (!environment.includes(POD_UID_ENV)) return { podUid: undefined, container: undefined };
  const variables = environment.split("\0");
  const value = (name: string) => variables.find((variable) => variable.startsWith(`${name}=`))?.slice(name.length + 1);
  return { podUid: value(POD_UID_ENV), container: value(CONTAINER_ENV) };
}

/**
 * Sends a signal to a process, or to a group if the number is negative; ignores missing processes
 * and those of other users.
 */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}
