import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { belongsToAttempt, type Pod } from "@flyte-ts/pod-task";
import type { UnsettledCreations } from "@flyte-ts/pod-task/creations";
import type { ProgressPhase, TaskStatus, TerminalStatus } from "@flyte-ts/task-plugin";
import { JOB_CREATED_STATE } from "../job/job-status-reader.js";
import type { Job, Leftover } from "../operator.js";
import type { JobApi } from "./job-api.js";
import type { JobRef } from "./job-ref.js";

/** A terminal status that is reported when no pod of the attempt runs any more. */
export interface PendingEnd {
  readonly request: TaskRequest;
  readonly status: TerminalStatus;
  /** Phase that is shown until then: an earlier one than the last would not be shown. */
  readonly phase: ProgressPhase;
  /** Uid of the resource; undefined for one that is gone. */
  readonly uid: string | undefined;
}

export interface JobEndingDeps {
  readonly api: Pick<JobApi, "delete" | "deletePart" | "deletePods">;
  readonly creations: Pick<UnsettledCreations, "isSettled">;
  readonly jobOf: (ref: JobRef) => Job | undefined;
  readonly podsOf: (ref: JobRef) => readonly Pod[];
}

/** A status. `recheck`: it must be derived again even without a change. */
export interface EndStatus {
  readonly status: TaskStatus;
  readonly recheck: boolean;
}

/**
 * Ends jobs so that two attempts never run at once: the end of an attempt is reported when its pods
 * are gone. If this process exits meanwhile, the next one finds a resource that is being deleted
 * and reports that.
 */
export class JobEnding {
  readonly #pending = new Map<string, PendingEnd>();
  /** Failed jobs whose pods still run. */
  readonly #stopping = new Set<string>();

  constructor(private readonly deps: JobEndingDeps) {}

  has({ key }: JobRef): boolean {
    return this.#pending.has(key);
  }

  /** Number of ended jobs whose end is not reported yet. */
  get waitingCount(): number {
    return new Set([...this.#pending.keys(), ...this.#stopping]).size;
  }

  /** True while the failure of a job is not reported, since its pods still run. */
  isStopping({ key }: JobRef): boolean {
    return this.#stopping.has(key);
  }

  requestOf({ key }: JobRef): TaskRequest | undefined {
    return this.#pending.get(key)?.request;
  }

  /** Removes the job, and reports the end when it and its pods are gone. */
  async end(ref: JobRef, end: PendingEnd): Promise<EndStatus> {
    this.#pending.set(ref.key, end);
    return this.proceed(ref);
  }

  /**
   * Deletes the job if it still exists. Returns the terminal status, or a progress that names what
   * it waits for.
   */
  async proceed(ref: JobRef): Promise<EndStatus> {
    const end = this.#pending.get(ref.key);
    if (end === undefined) throw new Error(`${ref.key} is not being ended`);
    const job = this.deps.jobOf(ref);
    const settled = this.deps.creations.isSettled(end.request);
    const exists = job !== undefined && (job.metadata.uid === end.uid || (!settled && belongsToAttempt(job, end.request)));
    if (exists && job.metadata.deletionTimestamp === undefined && !(await this.deps.api.delete(ref, job.metadata.uid)) && settled)
      return this.#finish(ref, end);
    if (exists || activePods(this.deps.podsOf(ref)).length > 0)
      return { status: waiting(end.phase, end.status, "its job is being deleted"), recheck: true };
    if (!settled)
      return {
        status: waiting(end.phase, end.status, "a creation of its job without an answer may still take effect"),
        recheck: true,
      };
    return this.#finish(ref, end);
  }

  /**
   * Stops what runs although its job has ended. A failure is reported when its pods are gone, since
   * a retry may follow.
   */
  async stopLeftover(ref: JobRef, status: TerminalStatus, leftover: Leftover): Promise<EndStatus> {
    const hasFailed = status.phase === "FAILED";
    if (!hasFailed && leftover.outlivesSuccess) return { status, recheck: false };
    const active = activePods(this.deps.podsOf(ref)).filter((pod) => leftover.owns(pod));
    const existed = await this.#stop(ref, leftover, active);
    if (!hasFailed || (active.length === 0 && !existed)) {
      this.#stopping.delete(ref.key);
      return { status, recheck: false };
    }
    this.#stopping.add(ref.key);
    return { status: waiting("RUNNING", status, `${active.length} of its pods still run`), recheck: true };
  }

  /**
   * Deletes the resource of the pods, or the pods. True when the resource existed: the watch may
   * not have delivered pods that it has just started.
   */
  async #stop(ref: JobRef, { resource }: Leftover, active: readonly Pod[]): Promise<boolean> {
    if (resource !== undefined) return this.deps.api.deletePart(ref, resource);
    await this.deps.api.deletePods(active.filter(({ metadata }) => metadata.deletionTimestamp === undefined));
    return false;
  }

  forget({ key }: JobRef): void {
    this.#pending.delete(key);
    this.#stopping.delete(key);
  }

  #finish(ref: JobRef, { status }: PendingEnd): EndStatus {
    this.forget(ref);
    return { status, recheck: false };
  }
}

/** Pods whose processes may run. */
export function activePods(pods: readonly Pod[]): Pod[] {
  return pods.filter(({ status }) => status?.phase !== "Succeeded" && status?.phase !== "Failed");
}

/** Returns a progress that shows users why the end is not reported yet. */
function waiting(phase: ProgressPhase, status: TerminalStatus, why: string): TaskStatus {
  const cause = status.phase === "FAILED" ? `failed: ${status.failure.message}` : `ended as ${status.phase}`;
  return { phase, reason: `the attempt ${cause}; ${why}`, pluginState: JOB_CREATED_STATE };
}
