import { type Backoff, backoffDelay } from "@flyte-ts/async";
import type { RestartPolicy, Role } from "../container/container-spec.js";

/** Observed run of a container. Times in ms since the epoch. */
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

export interface ContainerObservation {
  readonly name: string;
  readonly role: Role;
  /** Latest run; undefined before the first. */
  readonly run: Run | undefined;
  /**
   * Set when the container cannot be started now (image, configuration): the time of the next try.
   */
  readonly blocked: { readonly retryAt: number } | undefined;
}

export interface PodObservation {
  readonly containers: readonly ContainerObservation[];
  readonly restartPolicy: RestartPolicy;
  readonly now: number;
  /** The pod is being deleted. */
  readonly deleting: boolean;
  /** Time at which activeDeadlineSeconds elapses; undefined: none. */
  readonly deadline: number | undefined;
  /** True when the volumes exist. */
  readonly volumesReady: boolean;
  /** Terminal phase decided earlier, which is final. */
  readonly finalPhase: "Succeeded" | "Failed" | undefined;
}

export interface PodPlan {
  readonly phase: "Pending" | "Running" | "Succeeded" | "Failed";
  /** Containers to start now, in order. */
  readonly start: readonly string[];
  /** Running containers to stop. */
  readonly stop: readonly string[];
  /** Containers in back-off: its length, and the time of the next start. */
  readonly backOff: ReadonlyMap<string, { readonly delayMs: number; readonly until: number }>;
  /** True when plain init containers have succeeded and sidecars have started. */
  readonly initialized: boolean;
  readonly deadlineExceeded: boolean;
  /** True when no container runs or will run. */
  readonly done: boolean;
  /** Time of the next reconciliation without another cause; undefined: none. */
  readonly wakeAt: number | undefined;
}

/**
 * Delays of restarts: none, then 10 s, doubled up to 5 min; a run of 10 min resets them. Source:
 * kubelet's container back-off.
 */
const RESTART_BACKOFF: Backoff = { initialMs: 10_000, maxMs: 300_000 };
const BACKOFF_RESET_MS = 600_000;

/**
 * Plans the next actions for a pod, as a pure function of its observed state: kubelet's rules for
 * init containers, sidecars, restart policies, deadlines and deletion.
 */
export function planPod(observation: PodObservation): PodPlan {
  const { containers, now, deleting, deadline, finalPhase } = observation;
  const running = containers.filter(({ run }) => run?.state === "running");
  const deadlineExceeded = deadline !== undefined && now >= deadline && finalPhase === undefined;
  if (deleting || deadlineExceeded || finalPhase !== undefined) return planTermination(observation, { running, deadlineExceeded });

  const wakeTimes: number[] = deadline === undefined ? [] : [deadline];
  const backOff = new Map<string, { delayMs: number; until: number }>();
  const start: string[] = [];
  const tryStart = (container: ContainerObservation) => {
    const delayMs = container.run?.state === "ended" ? restartDelay(container.run) : 0;
    const until = container.run?.state === "ended" ? container.run.finishedAt + delayMs : 0;
    // A run may end after `now` was read, so the time alone does not tell that a delay is due.
    if (delayMs > 0 && until > now) {
      backOff.set(container.name, { delayMs, until });
      wakeTimes.push(until);
    } else if (container.blocked !== undefined && container.blocked.retryAt > now) wakeTimes.push(container.blocked.retryAt);
    else if (observation.volumesReady) start.push(container.name);
  };
  const result = (phase: PodPlan["phase"], initialized: boolean, stop: readonly string[] = []): PodPlan => ({
    phase,
    start,
    stop,
    backOff,
    initialized,
    deadlineExceeded: false,
    done: false,
    wakeAt: wakeTimes.length === 0 ? undefined : Math.min(...wakeTimes),
  });

  for (const container of containers.filter(({ role }) => role !== "main")) {
    const { run, role } = container;
    if (role === "sidecar") {
      if (run?.state === "running") continue;
      // A sidecar is restarted while main containers run, whatever the policy.
      tryStart(container);
      if (run === undefined) return result("Pending", false);
      continue;
    }
    if (run?.state === "ended" && run.exitCode === 0) continue;
    if (run?.state === "running") return result("Pending", false);
    if (run?.state === "ended" && observation.restartPolicy === "Never")
      return planTermination({ ...observation, finalPhase: "Failed" }, { running, deadlineExceeded: false });
    tryStart(container);
    return result("Pending", false);
  }

  const mains = containers.filter(({ role }) => role === "main");
  const unfinished = mains.filter(({ run }) => run?.state !== "ended" || shouldRestart(run, observation.restartPolicy));
  if (unfinished.length === 0) {
    const failed = mains.some(({ run }) => run?.state === "ended" && run.exitCode !== 0);
    return planTermination({ ...observation, finalPhase: failed ? "Failed" : "Succeeded" }, { running, deadlineExceeded: false });
  }
  for (const container of unfinished) if (container.run?.state !== "running") tryStart(container);
  const waiting = mains.some(({ run }) => run === undefined);
  return result(waiting ? "Pending" : "Running", true);
}

/** Plans the termination of the pod: stops running containers; done when none is left. */
function planTermination(
  observation: PodObservation,
  { running, deadlineExceeded }: { running: readonly ContainerObservation[]; deadlineExceeded: boolean },
): PodPlan {
  const mainsRun = running.filter(({ role }) => role !== "sidecar");
  // Sidecars serve the main containers, so they stop after them.
  const stop = (mainsRun.length > 0 && observation.finalPhase === undefined ? mainsRun : running).map(({ name }) => name);
  const done = running.length === 0;
  const started = observation.containers.some(({ run }) => run !== undefined);
  const mains = observation.containers.filter(({ role }) => role === "main");
  const succeeded = mains.every(({ run }) => run?.state === "ended" && run.exitCode === 0);
  const final = observation.finalPhase ?? (deadlineExceeded ? "Failed" : succeeded ? "Succeeded" : "Failed");
  return {
    phase: done || deadlineExceeded ? final : started ? "Running" : "Pending",
    start: [],
    stop,
    backOff: new Map(),
    initialized: mains.some(({ run }) => run !== undefined),
    deadlineExceeded,
    done,
    wakeAt: undefined,
  };
}

function shouldRestart(run: Run & { state: "ended" }, policy: RestartPolicy): boolean {
  return policy === "Always" || (policy === "OnFailure" && run.exitCode !== 0);
}

function restartDelay(run: Run): number {
  if (run.state !== "ended" || run.attempt === 0 || run.finishedAt - run.startedAt >= BACKOFF_RESET_MS) return 0;
  return backoffDelay(RESTART_BACKOFF, run.attempt - 1);
}
