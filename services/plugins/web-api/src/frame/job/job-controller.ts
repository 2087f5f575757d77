import type { JsonObject } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Time } from "@flyte-ts/async";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import {
  type Aborted,
  attemptKey,
  type OwningWorkflow,
  PermanentFailure,
  type PluginHost,
  RetryableFailure,
  RetryLater,
  type TaskStatus,
  type TerminalStatus,
} from "@flyte-ts/task-plugin";
import type { Logger } from "@flyte-ts/telemetry";
import { CreatingJobs } from "./creating-jobs.js";
import type { Endpoint } from "../call/endpoint.js";
import { JobLimits } from "./job-limits.js";
import type { JobRecords } from "./job-record.js";
import { JobReader } from "./job-reader.js";
import type { ApiLoad } from "../metrics.js";
import { passes } from "./outage.js";
import { decodePluginState, encodeCreated } from "./plugin-state.js";
import { RecordKeeper } from "./record-keeper.js";
import type { FrameSettings } from "../settings.js";
import { stopJob } from "./stop-job.js";
import { reducedRequest, scopeOf, type TrackedJob } from "./tracked-job.js";
import type { WebApi } from "../web-api.js";

export interface JobControllerDeps<Job extends JsonObject> {
  readonly api: WebApi<Job>;
  readonly endpoint: Pick<Endpoint, "pauseMs">;
  readonly settings: FrameSettings;
  readonly records: JobRecords;
  readonly clock: Time;
  readonly random: () => number;
  readonly logger: Logger;
  /** Called for an ended attempt whose job may still run. */
  readonly onAbandoned?: (() => void) | undefined;
}

/**
 * Runs the attempts of one API: about to create → created → ended. The first two are recorded in
 * the plugin state, so that a repeated request, also after a restart, creates no second job.
 */
export class JobController<Job extends JsonObject> {
  readonly #tracked = new Map<string, TrackedJob<Job>>();
  readonly #limits: JobLimits;
  readonly #records: RecordKeeper<Job>;
  readonly #creating: CreatingJobs<Job>;
  readonly #reader: JobReader<Job>;
  #host: Pick<PluginHost, "publishStatus"> | undefined;

  constructor(private readonly deps: JobControllerDeps<Job>) {
    const { api, settings, clock } = deps;
    this.#limits = new JobLimits(api.id, settings.limits);
    const host: Pick<PluginHost, "publishStatus"> = {
      publishStatus: async (request, status) => this.#host?.publishStatus(request, status),
    };
    this.#records = new RecordKeeper(deps);
    this.#creating = new CreatingJobs({ ...deps, records: this.#records, limits: this.#limits, host, startedAtMs: clock.now() });
    const onEnd = (tracked: TrackedJob<Job>) => this.#forget(tracked.key);
    this.#reader = new JobReader({ ...deps, host, jobs: this.#tracked, records: this.#records, onEnd });
  }

  get api(): Pick<WebApi<Job>, "id" | "pluginIdentifier"> {
    return this.deps.api;
  }

  get load(): ApiLoad {
    return { api: this.deps.api.id, jobs: this.#limits.size, circuitOpen: this.deps.endpoint.pauseMs > 0 };
  }

  has(key: string): boolean {
    return this.#tracked.has(key) || this.#creating.has(key);
  }

  start(host: Pick<PluginHost, "publishStatus">): void {
    this.#host = host;
  }

  stop(): Promise<void> {
    return this.#reader.stop();
  }

  /** A failure asks for the finalization of its attempt. @throws RetryLater */
  async reconcile(request: TaskRequest): Promise<TaskStatus> {
    try {
      return await this.#reconcile(request);
    } catch (error) {
      if (!(error instanceof PermanentFailure) && !(error instanceof RetryableFailure)) throw error;
      return { phase: "FAILED", failure: error, cleanup: true };
    }
  }

  async #reconcile(request: TaskRequest): Promise<TaskStatus> {
    const key = attemptKey(request);
    const known = this.#tracked.get(key);
    if (known !== undefined) return known.status;
    const recorded = this.#recordedJob(request);
    if (recorded !== undefined) return this.#track(request, await this.#adopt(request, recorded)).status;
    const job = await this.#creating.create(key, request).catch((error: unknown) => {
      if (!(error instanceof RetryLater)) this.#limits.release(key);
      throw error;
    });
    if (job !== "stopped") return this.#track(request, job).status;
    this.#limits.release(key);
    return { phase: "ABORTED" };
  }

  /** @throws RetryLater while the job has not stopped. */
  async abort(request: TaskRequest): Promise<Aborted | TerminalStatus> {
    const key = attemptKey(request);
    const tracked = this.#tracked.get(key);
    if (tracked !== undefined) {
      tracked.stopping = true;
      this.#reader.cancel(key);
    }
    try {
      const record = tracked === undefined ? await this.#records.read(request) : undefined;
      const known = tracked?.request ?? record?.attempt?.request ?? request;
      const job = tracked?.job ?? this.#recordedJob(request) ?? this.#recordedJob(known) ?? (await this.#find(key, known));
      const options = { ...this.deps, request: known, reason: request.abortReason, tracked };
      const end: Aborted | TerminalStatus = job === undefined ? { phase: "ABORTED" } : await stopJob(job, options);
      if (job !== undefined || record !== undefined || this.#creating.has(key)) await this.#records.stopped(known);
      this.#forget(key);
      return end.phase === "ABORTED" ? end : { ...end, cleanup: true };
    } catch (error) {
      if (passes(error)) throw new RetryLater(`cannot stop the job: ${(error as Error).message}`, { cause: error });
      throw error;
    }
  }

  /** A later execution of the same name is another owner. */
  listAttempts({ workflowKey, owner }: OwningWorkflow): readonly TaskRequest[] {
    const tracked = [...this.#tracked.values()].map(({ request }) => request);
    const isOwned = (request: TaskRequest) => request.workflowKey === workflowKey && (request.owner?.uid ?? "") === (owner?.uid ?? "");
    return [...tracked, ...this.#creating.requests].filter(isOwned);
  }

  /**
   * Stops the job of an attempt that failed while its API did not answer, and releases what the
   * attempt keeps. The plugin state of the request is that of the record, where there is one.
   *
   * @throws RetryLater while it still does not, until the request is older than `outageMs`.
   */
  async finalize(request: TaskRequest): Promise<void> {
    const key = attemptKey(request);
    const isStopped = await this.#tryToEnd(request, "stop the job of an ended attempt", () => this.#stopLeft(key, request));
    if (!isStopped) this.deps.onAbandoned?.();
    else await this.#tryToEnd(request, "release what an ended attempt keeps", () => this.#release(request));
    this.#reader.cancel(key);
    this.#forget(key);
  }

  async #stopLeft(key: string, request: TaskRequest): Promise<void> {
    const job = await this.#leftJob(key, request);
    if (job !== undefined) await this.deps.api.stop(job, "the attempt has ended");
  }

  async #release(request: TaskRequest): Promise<void> {
    await this.deps.api.release?.(request);
    if (request.deleteResources) await this.#records.delete(request);
  }

  /**
   * Returns false, after a warning, when this has failed for good.
   *
   * @throws RetryLater when it may succeed later
   */
  async #tryToEnd(request: TaskRequest, action: string, act: () => Promise<void>): Promise<boolean> {
    const { api, logger } = this.deps;
    try {
      await act();
      return true;
    } catch (error) {
      if (passes(error) && !this.#isPastOutage(request))
        throw new RetryLater(`cannot ${action}: ${(error as Error).message}`, { cause: error });
      const fields = { attempt: attemptKey(request), api: api.id, error: String(error) };
      logger.warn(fields, `cannot ${action}: check in the service that it does not run`);
      return false;
    }
  }

  /** True for a request that has been repeated for as long as an outage may last. */
  #isPastOutage({ requestedAt }: TaskRequest): boolean {
    const { clock, settings } = this.deps;
    return requestedAt === undefined || clock.now() - timestampMs(requestedAt) >= settings.outageMs;
  }

  /** The job of an ended attempt that may still run. */
  async #leftJob(key: string, request: TaskRequest): Promise<Job | undefined> {
    const { api } = this.deps;
    const tracked = this.#tracked.get(key);
    if (tracked !== undefined) return tracked.job;
    const recorded = decodePluginState(request.pluginState, api.id);
    if (recorded.kind === "created") return recorded.lost ? api.parseJob(recorded.job) : undefined;
    if (recorded.kind === "none" && !this.#creating.has(key)) return undefined;
    return this.#find(key, request);
  }

  /** @throws PermanentFailure; RetryLater while the inputs cannot be read. */
  async #adopt(request: TaskRequest, job: Job): Promise<Job> {
    try {
      return (await this.deps.api.adopt?.(request, job)) ?? job;
    } catch (error) {
      if (passes(error)) throw new RetryLater(`cannot read the inputs of the task: ${(error as Error).message}`, { cause: error });
      throw error;
    }
  }

  /** Returns undefined for an invalid task, which cannot have a job. */
  async #find(key: string, request: TaskRequest): Promise<Job | undefined> {
    try {
      return await this.deps.api.find(this.#creating.requestOf(key) ?? request);
    } catch (error) {
      if (error instanceof PermanentFailure) return undefined;
      throw error;
    }
  }

  #recordedJob(request: TaskRequest): Job | undefined {
    const recorded = decodePluginState(request.pluginState, this.deps.api.id);
    return recorded.kind === "created" ? this.deps.api.parseJob(recorded.job) : undefined;
  }

  #track(request: TaskRequest, job: Job): TrackedJob<Job> {
    const { api, clock } = this.deps;
    const key = attemptKey(request);
    const tracked: TrackedJob<Job> = {
      key,
      request: reducedRequest(request),
      trackedAtMs: clock.now(),
      job,
      status: { phase: "QUEUED", reason: "job submitted", pluginState: encodeCreated(api.id, job) },
      failingSinceMs: undefined,
      failures: 0,
      stopping: false,
      stopSent: false,
    };
    this.#tracked.set(key, tracked);
    this.#creating.delete(key);
    this.#limits.adopt(key, scopeOf(request));
    this.#reader.schedule(tracked);
    return tracked;
  }

  #forget(key: string): void {
    const tracked = this.#tracked.get(key);
    if (tracked !== undefined) this.deps.api.forget?.(tracked.job);
    this.#tracked.delete(key);
    this.#creating.delete(key);
    this.#limits.release(key);
  }
}
