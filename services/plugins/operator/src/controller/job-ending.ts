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

  constructor(private readonly deps: JobEndingDeps) {}

  has({ key }: JobRef): boolean {
    return this.#pending.has(key);
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
      return { status: waiting("INITIALIZING", end.status, "its job is being deleted"), recheck: true };
    if (!settled)
      return {
        status: waiting("INITIALIZING", end.status, "a creation of its job without an answer may still take effect"),
        recheck: true,
      };
    return this.#finish(ref, end);
  }

  /**
   * Stops what runs although its job has ended. A failure is reported when its pods are gone, since
   * a retry may follow.
   */
  async stopLeftover(ref: JobRef, status: TerminalStatus, leftover: Leftover): Promise<EndStatus> {
    if (leftover.kind === "resource" && status.phase !== "FAILED") return { status, recheck: false };
    const pods = this.deps.podsOf(ref);
    const active = activePods(leftover.kind === "pods" ? pods : pods.filter((pod) => leftover.owns(pod)));
    const unstopped = active.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    if (leftover.kind === "pods") await this.deps.api.deletePods(unstopped);
    else if (unstopped.length > 0) await this.deps.api.deletePart(ref, leftover.ref, leftover.name);
    if (active.length === 0 || status.phase !== "FAILED") return { status, recheck: false };
    return { status: waiting("RUNNING", status, `${active.length} of its pods still run`), recheck: true };
  }

  forget({ key }: JobRef): void {
    this.#pending.delete(key);
  }

  #finish({ key }: JobRef, { status }: PendingEnd): EndStatus {
    this.#pending.delete(key);
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
