import type { JsonObject } from "@bufbuild/protobuf";
import type { Time } from "@flyte-ts/async";
import { BlobUnavailableError } from "@flyte-ts/blobstore";
import { type Failed, type PluginHost, type Succeeded } from "@flyte-ts/task-plugin";
import type { Logger } from "@flyte-ts/telemetry";
import { ApiError } from "../call/api-error.js";
import { hasEnded, type ProgressObservation } from "../observation.js";
import { jobIsMissing, outageFailure, outageReason, passes, retryDelay } from "./outage.js";
import { encodeCreated } from "./plugin-state.js";
import { pollInterval } from "./poll-interval.js";
import { Poller } from "./poller.js";
import type { RecordKeeper } from "./record-keeper.js";
import type { FrameSettings } from "../settings.js";
import type { TrackedJob } from "./tracked-job.js";
import type { Reading, WebApi } from "../web-api.js";

export interface JobReaderDeps<Job extends JsonObject> {
  readonly api: WebApi<Job>;
  readonly settings: FrameSettings;
  readonly host: Pick<PluginHost, "publishStatus">;
  readonly records: Pick<RecordKeeper<Job>, "lost">;
  readonly clock: Time;
  readonly random: () => number;
  readonly logger: Logger;
  readonly jobs: ReadonlyMap<string, TrackedJob<Job>>;
  /** Called when the end of a job is reported. */
  readonly onEnd: (tracked: TrackedJob<Job>) => void;
}

interface FailedAction {
  readonly action: string;
  /** True when the job may still run. */
  readonly mayRun: boolean;
}

const STATE: FailedAction = { action: "read the state of the job", mayRun: true };
const RESULTS: FailedAction = { action: "read the results of the job", mayRun: false };

/** Reads the states of jobs on a schedule and reports their changes. */
export class JobReader<Job extends JsonObject> {
  readonly #poller: Poller;

  constructor(private readonly deps: JobReaderDeps<Job>) {
    const { clock, api, settings } = deps;
    this.#poller = new Poller({ clock, maxBatch: api.maxBatch, concurrency: settings.readers, read: (keys) => this.#read(keys) });
  }

  schedule(tracked: TrackedJob<Job>): void {
    const { settings, clock, random } = this.deps;
    this.#poller.set(tracked.key, pollInterval(settings.poll, clock.now() - tracked.trackedAtMs, random));
  }

  cancel(key: string): void {
    this.#poller.delete(key);
  }

  stop(): Promise<void> {
    return this.#poller.stop();
  }

  async #read(keys: readonly string[]): Promise<void> {
    const batch = keys.flatMap((key) => this.deps.jobs.get(key) ?? []).filter(({ stopping }) => !stopping);
    if (batch.length === 0) return;
    const readings = await this.#readJobs(batch.map(({ job }) => job));
    await Promise.all(batch.map((tracked, index) => this.#applySafely(tracked, readings[index])));
  }

  async #readJobs(jobs: readonly Job[]): Promise<readonly Reading<Job>[]> {
    try {
      return await this.deps.api.read(jobs);
    } catch (error) {
      const failure =
        error instanceof ApiError ? error : new ApiError("unavailable", { code: "Unknown", message: String(error), cause: error });
      return jobs.map(() => ({ kind: "failed", error: failure }));
    }
  }

  /** A failed report, for example of a closed bus, is tried again with the next reading. */
  async #applySafely(tracked: TrackedJob<Job>, reading: Reading<Job> | undefined): Promise<void> {
    // Once an abort controls the job, the abort reports its status.
    if (tracked.stopping || this.deps.jobs.get(tracked.key) !== tracked) return;
    try {
      await this.#apply(tracked, reading);
    } catch (error) {
      if (passes(error)) return this.#failed(tracked, RESULTS, error).catch(() => this.schedule(tracked));
      this.deps.logger.warn({ attempt: tracked.key, error: String(error) }, "cannot report the state of a job; it is read again");
      this.schedule(tracked);
    }
  }

  async #apply(tracked: TrackedJob<Job>, reading: Reading<Job> | undefined): Promise<void> {
    const { api, host } = this.deps;
    if (reading === undefined) throw new Error(`${api.id} answered for fewer jobs than were read`);
    if (reading.kind === "failed") return this.#failedReading(tracked, reading.error);
    tracked.job = reading.job ?? tracked.job;
    const { observation } = reading;
    if (hasEnded(observation)) return this.#end(tracked, await api.complete(tracked.request, tracked.job, observation));
    tracked.failingSinceMs = undefined;
    tracked.failures = 0;
    tracked.status = this.#progress(tracked, observation);
    await host.publishStatus(tracked.request, tracked.status);
    this.schedule(tracked);
  }

  #progress({ job }: TrackedJob<Job>, { state, reason, details }: ProgressObservation): TrackedJob<Job>["status"] {
    return { ...details, phase: state, ...(reason !== undefined && { reason }), pluginState: encodeCreated(this.deps.api.id, job) };
  }

  async #failedReading(tracked: TrackedJob<Job>, error: ApiError): Promise<void> {
    if (error.kind !== "missing") return this.#failed(tracked, STATE, error);
    await this.#end(tracked, { phase: "FAILED", failure: jobIsMissing(this.deps.api.id, error) });
  }

  /**
   * Shows the failure as the reason for waiting. After `outageMs` the attempt fails, once a job
   * that may run is recorded: its finalization stops it.
   */
  async #failed(tracked: TrackedJob<Job>, { action, mayRun }: FailedAction, error: unknown): Promise<void> {
    const { clock, random, settings, host } = this.deps;
    tracked.failingSinceMs ??= clock.now();
    const sinceMs = tracked.failingSinceMs;
    if (clock.now() - sinceMs > settings.outageMs && (!mayRun || (await this.#recordLost(tracked)))) {
      await this.#end(tracked, { phase: "FAILED", failure: outageFailure(action, { sinceMs, nowMs: clock.now(), error }) });
      return;
    }
    this.#poller.set(tracked.key, retryDelay(tracked.failures++, error, random));
    await host.publishStatus(tracked.request, { ...tracked.status, reason: outageReason(action, error) });
  }

  /** Returns false while the blob store does not answer. */
  async #recordLost({ request, job }: TrackedJob<Job>): Promise<boolean> {
    try {
      await this.deps.records.lost(request, job);
      return true;
    } catch (error) {
      if (error instanceof BlobUnavailableError) return false;
      throw error;
    }
  }

  /** Asks for the finalization, which releases what the attempt keeps. */
  async #end(tracked: TrackedJob<Job>, end: Succeeded | Failed): Promise<void> {
    const { host, api } = this.deps;
    await host.publishStatus(tracked.request, { pluginState: encodeCreated(api.id, tracked.job), ...end, cleanup: true });
    this.deps.onEnd(tracked);
  }
}
