import type { Time } from "@flyte-ts/async";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type InformerEvent, WorkerPool, WorkQueue } from "@flyte-ts/kubernetes";
import { objectMissingFailure } from "@flyte-ts/pod-task";
import type { FinishedAttempts } from "@flyte-ts/pod-task/creations";
import { type PluginHost, type ProgressPhase, RetryLater, type TaskStatus, type TerminalStatus } from "@flyte-ts/task-plugin";
import type { Logger } from "@flyte-ts/telemetry";
import type { JobStatusReader } from "../job/job-status-reader.js";
import type { Job } from "../operator.js";
import type { AttemptRecords } from "./attempt-records.js";
import type { JobApi } from "./job-api.js";
import type { EndStatus, JobEnding } from "./job-ending.js";
import { type JobRef, nameOf } from "./job-ref.js";
import type { JobWatch } from "./job-watch.js";

export interface JobReporterDeps {
  readonly watch: Pick<JobWatch, "jobs" | "podsOf" | "replacedPodsOf">;
  readonly reader: JobStatusReader;
  readonly ending: JobEnding;
  readonly records: AttemptRecords;
  readonly finished: FinishedAttempts<Job>;
  readonly api: Pick<JobApi, "delete">;
  readonly host: PluginHost;
  readonly refOfKey: (key: string) => JobRef;
  readonly clock: Time;
  readonly logger: Logger;
  /** Number of jobs observed concurrently. */
  readonly workers: number;
  /**
   * Maximum age of a job's end at the start of this process, ms; older ends are reported only on
   * request.
   */
  readonly reportEndedWithinMs: number;
}

const RETRY_MS = 1_000;
/** Interval of checks of a job that is being deleted, ms; changes trigger a check at once. */
const RECHECK_MS = 5_000;
/** Time for which changes of a job's pods are collected, ms: pods of one job change together. */
const COLLECT_MS = 200;

/** Derives the status of jobs, and reports it when the job or a pod below it changes. */
export class JobReporter {
  readonly #queue: WorkQueue;
  readonly #pool: WorkerPool;
  readonly #startedAt: number;
  /** Jobs being created: their changes are reported after the submission. */
  readonly #creating = new Set<string>();

  constructor(private readonly deps: JobReporterDeps) {
    const { clock, logger, workers } = deps;
    this.#startedAt = clock.now();
    this.#queue = new WorkQueue(clock);
    this.#pool = new WorkerPool({
      queue: this.#queue,
      workers,
      logger,
      reconcile: (key) => this.#report(deps.refOfKey(key)),
      onError: (key) => this.#queue.addAt(key, clock.now() + RETRY_MS),
    });
  }

  stop(): Promise<void> {
    return this.#pool.stop();
  }

  /** Defers reports while the job is created; they follow right after. */
  async whileCreating<T>({ key }: JobRef, create: () => Promise<T>): Promise<T> {
    this.#creating.add(key);
    try {
      return await create();
    } finally {
      this.#creating.delete(key);
      this.#queue.addAt(key, this.deps.clock.now() + 1);
    }
  }

  cancel({ key }: JobRef): void {
    this.#queue.cancelDelayed(key);
  }

  /** Reports the job, or deletes it when it is obsolete, at a time, ms. */
  reportAt({ key }: JobRef, atMs: number): void {
    this.#queue.addAt(key, atMs);
  }

  onPods(ref: JobRef): void {
    const request = this.#requestOf(ref);
    if (request !== undefined && !this.deps.records.isFinished(ref, request))
      this.#queue.addAt(ref.key, this.deps.clock.now() + COLLECT_MS);
  }

  /** Handles a change of a job from the watch. */
  onJob(ref: JobRef, event: InformerEvent<Job>): void {
    const { records, reader, ending, finished, logger } = this.deps;
    const { type, object } = event;
    if (finished.onEvent(ref.key, event)) {
      logger.warn({ job: ref.key }, "a job was created after its attempt ended, and is deleted");
      this.#queue.add(ref.key);
    }
    const request = ending.requestOf(ref) ?? records.requestOf(ref, object);
    if (request === undefined || records.isFinished(ref, request)) return;
    if (type === "deleted") {
      // The deletion of a job whose end was reported is garbage collection, not a change to report.
      const isReported = reader.hasResult(object) && !ending.isStopping(ref);
      if (!ending.has(ref) && (isReported || this.#endedLongAgo(ref, object))) return;
      if (!ending.has(ref)) records.lose(ref, object);
    } else {
      records.foundAgain(ref);
      if (type === "added" && this.#isOld(ref, object)) return;
    }
    this.#queue.add(ref.key);
  }

  /**
   * Returns the status of an existing job. Deletes a job that failed early, and what an ended job
   * leaves running.
   *
   * @throws RetryLater
   */
  async statusOf(ref: JobRef, job: Job, request: TaskRequest): Promise<TaskStatus> {
    const { reader, ending, watch } = this.deps;
    if (ending.has(ref)) return this.#checkAgain(ref, await ending.proceed(ref));
    const observed = { operator: ref.operator, job, pods: watch.podsOf(ref), replaced: watch.replacedPodsOf(ref) };
    const reading = await reader.read(observed, request);
    if (reading.kind === "progress") {
      if (reading.recheckAt !== undefined) this.#queue.addAt(ref.key, reading.recheckAt.getTime());
      return reading.status;
    }
    const { status, premature } = reading;
    const phase = shownPhase(ref, job);
    if (premature) return this.#checkAgain(ref, await ending.end(ref, { request, status, phase, uid: job.metadata.uid }));
    const leftover = ref.operator.leftover(job);
    return leftover === undefined ? status : this.#checkAgain(ref, await ending.stopLeftover(ref, status, leftover));
  }

  /** Status of a job that no longer exists, although its end was not reported. */
  async statusOfLost(ref: JobRef, job: Job, request: TaskRequest): Promise<TaskStatus> {
    const { reader, ending } = this.deps;
    const { operator } = ref;
    // A job that ended before its deletion has a result of its own.
    const ended = operator.status(job, []).kind !== "progress";
    const reading = ended ? await reader.read({ operator, job, pods: [] }, request) : undefined;
    const status: TerminalStatus =
      reading?.kind === "ended" ? reading.status : { phase: "FAILED", failure: objectMissingFailure(operator.ref.plural, nameOf(ref)) };
    return this.#checkAgain(ref, await ending.end(ref, { request, status, phase: shownPhase(ref, job), uid: undefined }));
  }

  #checkAgain({ key }: JobRef, { status, recheck }: EndStatus): TaskStatus {
    if (recheck) this.#queue.addAt(key, this.deps.clock.now() + RECHECK_MS);
    return status;
  }

  /** Reports the status that follows from a change. */
  async #report(ref: JobRef): Promise<void> {
    const { records, watch, host } = this.deps;
    if (await this.#deleteObsolete(ref)) return;
    const job = watch.jobs.get(ref);
    const lost = records.lostJob(ref);
    const request = this.#requestOf(ref);
    if (request === undefined || records.isFinished(ref, request) || this.#creating.has(ref.key)) return;
    try {
      const status = await this.#currentStatus(ref, { job, lost, request });
      if (status !== undefined) await host.publishStatus(request, status);
    } catch (error) {
      if (error instanceof RetryLater && error.status !== undefined) await host.publishStatus(request, error.status);
      this.#retryLater(ref, error);
    }
  }

  /** The attempt whose job exists, is being ended, or was lost. */
  #requestOf(ref: JobRef): TaskRequest | undefined {
    const { records, ending, watch } = this.deps;
    return ending.requestOf(ref) ?? records.requestOf(ref, watch.jobs.get(ref) ?? records.lostJob(ref));
  }

  /** False when the job is not obsolete. */
  async #deleteObsolete(ref: JobRef): Promise<boolean> {
    const { finished, api } = this.deps;
    if (!finished.isObsolete(ref.key)) return false;
    try {
      const dueAtMs = await finished.deleteDue(ref.key, (uid) => api.delete(ref, uid));
      if (dueAtMs !== undefined) this.#queue.addAt(ref.key, dueAtMs);
    } catch (error) {
      this.#retryLater(ref, error);
    }
    return true;
  }

  #retryLater({ key }: JobRef, error: unknown): void {
    if (!(error instanceof RetryLater)) throw error;
    this.#queue.addAt(key, this.deps.clock.now() + (error.retryAfterMs ?? RETRY_MS));
  }

  async #currentStatus(
    ref: JobRef,
    { job, lost, request }: { readonly job: Job | undefined; readonly lost: Job | undefined; readonly request: TaskRequest },
  ): Promise<TaskStatus | undefined> {
    const { ending, records } = this.deps;
    if (ending.has(ref)) return this.#checkAgain(ref, await ending.proceed(ref));
    if (job !== undefined) return this.statusOf(ref, job, request);
    if (lost === undefined) return undefined;
    const status = await this.statusOfLost(ref, lost, request);
    records.foundAgain(ref);
    return status;
  }

  /**
   * True for a job whose end an earlier process has reported: it ended before its deletion was
   * requested, or long ago.
   */
  #isOld(ref: JobRef, job: Job): boolean {
    const removed = job.metadata.deletionTimestamp !== undefined && ref.operator.status(job, []).kind !== "progress";
    return removed || this.#endedLongAgo(ref, job);
  }

  #endedLongAgo({ operator }: JobRef, job: Job): boolean {
    const state = operator.status(job, []);
    const endedAt = state.kind === "progress" ? undefined : state.endedAt;
    return endedAt !== undefined && endedAt.getTime() < this.#startedAt - this.deps.reportEndedWithinMs;
  }
}

/** Phase that users have seen of a job whose end is awaited. */
function shownPhase({ operator }: JobRef, job: Job): ProgressPhase {
  const state = operator.status(job, []);
  return state.kind === "progress" && state.phase !== "RUNNING" ? "INITIALIZING" : "RUNNING";
}
