import type { JsonObject } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Time } from "@flyte-ts/async";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type PluginHost, type Progress, RetryLater } from "@flyte-ts/task-plugin";
import { ApiError } from "../call/api-error.js";
import type { Endpoint } from "../call/endpoint.js";
import type { JobLimits } from "./job-limits.js";
import { outageFailure, outageReason, passes, refusal, retryDelay } from "./outage.js";
import { decodePluginState, encodeCreating } from "./plugin-state.js";
import type { RecordKeeper } from "./record-keeper.js";
import type { FrameSettings } from "../settings.js";
import { scopeOf } from "./tracked-job.js";
import type { WebApi } from "../web-api.js";

/**
 * Requests made before the start of the process, or up to this time after it, ms, may be
 * redeliveries of ones that an earlier process handled. The margin covers different clocks of
 * propeller and this service.
 */
const CLOCK_SKEW_MS = 60_000;
/** Delay before the next try of an attempt that waits for another job's end, ms. */
const LIMIT_RETRY_MS = 5_000;

export interface CreatingJobsDeps<Job extends JsonObject> {
  readonly api: WebApi<Job>;
  readonly endpoint: Pick<Endpoint, "pauseMs">;
  readonly settings: FrameSettings;
  readonly limits: JobLimits;
  readonly records: Pick<RecordKeeper<Job>, "begin" | "created" | "refused">;
  readonly host: Pick<PluginHost, "publishStatus">;
  readonly clock: Time;
  readonly random: () => number;
  readonly startedAtMs: number;
}

/** An attempt whose creation was tried with an unknown result. */
interface Creating {
  readonly request: TaskRequest;
  readonly sinceMs: number;
  failures: number;
}

/** Creates jobs. An attempt that cannot be created yet is tried again by the framework. */
export class CreatingJobs<Job extends JsonObject> {
  readonly #creating = new Map<string, Creating>();
  #pending = 0;

  constructor(private readonly deps: CreatingJobsDeps<Job>) {}

  get requests(): readonly TaskRequest[] {
    return [...this.#creating.values()].map(({ request }) => request);
  }

  has(key: string): boolean {
    return this.#creating.has(key);
  }

  requestOf(key: string): TaskRequest | undefined {
    return this.#creating.get(key)?.request;
  }

  delete(key: string): void {
    this.#creating.delete(key);
  }

  /**
   * Creates the job of an attempt, unless it is recorded: that job is returned, and "stopped" for
   * an attempt that was stopped.
   * @throws RetryLater, PermanentFailure, RetryableFailure
   */
  async create(key: string, request: TaskRequest): Promise<Job | "stopped"> {
    const { api, host, records } = this.deps;
    const create = await api.prepare(request).catch((error: unknown) => this.#rethrow(error, "prepare the job", key));
    this.#acquire(key, request);
    const mayExist = this.#mayExist(key, request);
    this.#pending++;
    try {
      // Recorded before the call: a process that finds the record looks for the job first.
      const earlier = this.#creating.has(key) ? undefined : await records.begin(request);
      if (earlier !== undefined) return earlier;
      await host.publishStatus(request, this.#creatingStatus(`creating the job in ${api.id}`));
      const entry = this.#creating.get(key) ?? { request, sinceMs: this.deps.clock.now(), failures: 0 };
      this.#creating.set(key, entry);
      const job = await create({ mayExist });
      await records.created(request, job);
      return job;
    } catch (error) {
      // The finalization then looks for no job.
      if (!mayExist && isRefused(error)) await records.refused(request);
      return this.#rethrow(error, "create the job", key);
    } finally {
      this.#pending--;
    }
  }

  #acquire(key: string, request: TaskRequest): void {
    const { endpoint, limits, settings } = this.deps;
    const exhausted = limits.acquire(key, scopeOf(request));
    if (exhausted !== undefined) throw waitLater(exhausted, LIMIT_RETRY_MS);
    if (this.#pending >= settings.maxPendingCreates) throw waitLater("waiting for the rate limit of the API", LIMIT_RETRY_MS);
    if (endpoint.pauseMs > 0) throw waitLater("calls of the API failed several times and pause", endpoint.pauseMs);
  }

  #mayExist(key: string, { pluginState, requestedAt }: TaskRequest): boolean {
    const { api, startedAtMs } = this.deps;
    if (this.#creating.has(key) || decodePluginState(pluginState, api.id).kind !== "none") return true;
    return requestedAt === undefined || timestampMs(requestedAt) < startedAtMs + CLOCK_SKEW_MS;
  }

  #creatingStatus(reason: string): Progress {
    return { phase: "QUEUED", reason, pluginState: encodeCreating(this.deps.api.id) };
  }

  #rethrow(error: unknown, action: string, key: string): never {
    const { clock, random, settings, api } = this.deps;
    if (isRefused(error)) {
      this.#creating.delete(key);
      throw refusal(`${action} in ${api.id}`, error);
    }
    if (!passes(error)) throw error;
    const entry = this.#creating.get(key);
    const sinceMs = entry?.sinceMs ?? clock.now();
    if (clock.now() - sinceMs > settings.outageMs) throw outageFailure(action, { sinceMs, nowMs: clock.now(), error });
    const failures = entry?.failures ?? 0;
    if (entry !== undefined) entry.failures++;
    const reason = outageReason(action, error);
    const status = entry === undefined ? { phase: "QUEUED" as const, reason } : this.#creatingStatus(reason);
    throw new RetryLater(reason, { status, retryAfterMs: retryDelay(failures, error, random), cause: error });
  }
}

function isRefused(error: unknown): error is ApiError {
  return error instanceof ApiError && !error.passes;
}

function waitLater(reason: string, retryAfterMs: number): RetryLater {
  return new RetryLater(reason, { status: { phase: "WAITING_FOR_RESOURCES", reason }, retryAfterMs });
}
