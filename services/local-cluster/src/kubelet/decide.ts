import { type Backoff, backoffDelay } from "@flyte-ts/async";
import type { RestartPolicy, Role } from "./container/spec.js";

/** One start of a container, as observed. Times in ms since 1970. */
export type Run =
  | { readonly state: "running"; readonly attempt: number; readonly startedAt: number }
  | {
      readonly state: "ended";
      readonly attempt: number;
      readonly startedAt: number;
      readonly finishedAt: number;
      readonly exitCode: number;
      readonly reason: string;
      readonly message: string;
    };

export interface ObservedContainer {
  readonly name: string;
  readonly role: Role;
  /** The latest start; undefined before the first. */
  readonly run: Run | undefined;
  /** Why it cannot be started now (image, configuration), and when to try again. */
  readonly blocked: { readonly retryAt: number } | undefined;
}

export interface Observation {
  readonly containers: readonly ObservedContainer[];
  readonly restartPolicy: RestartPolicy;
  readonly now: number;
  /** The pod is being deleted. */
  readonly deleting: boolean;
  /** Time at which activeDeadlineSeconds is over; undefined for none. */
  readonly deadline: number | undefined;
  /** Volumes are in place. */
  readonly volumesReady: boolean;
  /** An end that was decided before; it stays decided. */
  readonly settled: "Succeeded" | "Failed" | undefined;
}

export interface Decision {
  readonly phase: "Pending" | "Running" | "Succeeded" | "Failed";
  /** Containers to start now, in order. */
  readonly start: readonly string[];
  /** Running containers to stop. */
  readonly stop: readonly string[];
  /** Containers that ended and wait before the next start: ms until then, counted from the end. */
  readonly backOff: ReadonlyMap<string, { readonly delayMs: number; readonly until: number }>;
  /** Plain init containers are done and sidecars have started. */
  readonly initialized: boolean;
  readonly deadlineExceeded: boolean;
  /** Nothing runs and nothing will. */
  readonly over: boolean;
  /** When to look again without any other cause. */
  readonly wakeAt: number | undefined;
}

/** First restart at once, then 10 s, doubled up to 5 min; a run of 10 min clears the count. Source: kubelet's container back-off. */
const RESTART_BACKOFF: Backoff = { initialMs: 10_000, maxMs: 300_000 };
const CLEARING_RUN_MS = 600_000;

/**
 * What to do with a pod, from what is seen of it and nothing else: kubelet's rules
 * for init containers, sidecars, restart policies, deadlines and deletion.
 */
export function decide(seen: Observation): Decision {
  const { containers, now, deleting, deadline, settled } = seen;
  const running = containers.filter(({ run }) => run?.state === "running");
  const deadlineExceeded = deadline !== undefined && now >= deadline && settled === undefined;
  if (deleting || deadlineExceeded || settled !== undefined) return ending(seen, { running, deadlineExceeded });

  const wakes: number[] = deadline === undefined ? [] : [deadline];
  const backOff = new Map<string, { delayMs: number; until: number }>();
  const start: string[] = [];
  const tryStart = (container: ObservedContainer) => {
    const until = container.run?.state === "ended" ? container.run.finishedAt + restartDelay(container.run) : 0;
    if (until > now && container.run !== undefined) {
      backOff.set(container.name, { delayMs: restartDelay(container.run), until });
      wakes.push(until);
    } else if (container.blocked !== undefined && container.blocked.retryAt > now) wakes.push(container.blocked.retryAt);
    else if (seen.volumesReady) start.push(container.name);
  };
  const result = (phase: Decision["phase"], initialized: boolean, stop: readonly string[] = []): Decision => ({
    phase,
    start,
    stop,
    backOff,
    initialized,
    deadlineExceeded: false,
    over: false,
    wakeAt: wakes.length === 0 ? undefined : Math.min(...wakes),
  });

  for (const container of containers.filter(({ role }) => role !== "main")) {
    const { run, role } = container;
    if (role === "sidecar") {
      if (run?.state === "running") continue;
      // A sidecar that ended while the main containers work is started again, whatever the policy.
      tryStart(container);
      if (run === undefined) return result("Pending", false);
      continue;
    }
    if (run?.state === "ended" && run.exitCode === 0) continue;
    if (run?.state === "running") return result("Pending", false);
    if (run?.state === "ended" && seen.restartPolicy === "Never")
      return ending({ ...seen, settled: "Failed" }, { running, deadlineExceeded: false });
    tryStart(container);
    return result("Pending", false);
  }

  const mains = containers.filter(({ role }) => role === "main");
  const unfinished = mains.filter(({ run }) => run?.state !== "ended" || restarts(run, seen.restartPolicy));
  if (unfinished.length === 0) {
    const failed = mains.some(({ run }) => run?.state === "ended" && run.exitCode !== 0);
    return ending({ ...seen, settled: failed ? "Failed" : "Succeeded" }, { running, deadlineExceeded: false });
  }
  for (const container of unfinished) if (container.run?.state !== "running") tryStart(container);
  const waiting = mains.some(({ run }) => run === undefined);
  return result(waiting ? "Pending" : "Running", true);
}

/** Stops what still runs; over once nothing does. */
function ending(
  seen: Observation,
  { running, deadlineExceeded }: { running: readonly ObservedContainer[]; deadlineExceeded: boolean },
): Decision {
  const mainsRun = running.filter(({ role }) => role !== "sidecar");
  // Sidecars outlive the main containers, so that they can serve them to the end.
  const stop = (mainsRun.length > 0 && seen.settled === undefined ? mainsRun : running).map(({ name }) => name);
  const over = running.length === 0;
  const started = seen.containers.some(({ run }) => run !== undefined);
  const mains = seen.containers.filter(({ role }) => role === "main");
  const succeeded = mains.every(({ run }) => run?.state === "ended" && run.exitCode === 0);
  const final = seen.settled ?? (deadlineExceeded ? "Failed" : succeeded ? "Succeeded" : "Failed");
  return {
    phase: over || deadlineExceeded ? final : started ? "Running" : "Pending",
    start: [],
    stop,
    backOff: new Map(),
    initialized: mains.some(({ run }) => run !== undefined),
    deadlineExceeded,
    over,
    wakeAt: undefined,
  };
}

function restarts(run: Run & { state: "ended" }, policy: RestartPolicy): boolean {
  return policy === "Always" || (policy === "OnFailure" && run.exitCode !== 0);
}

function restartDelay(run: Run): number {
  if (run.state !== "ended" || run.attempt === 0 || run.finishedAt - run.startedAt >= CLEARING_RUN_MS) return 0;
  return backoffDelay(RESTART_BACKOFF, run.attempt - 1);
}
