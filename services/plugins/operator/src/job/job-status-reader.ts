import { BoundedMap, type Time } from "@flyte-ts/async";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import {
  type GracePeriods,
  type ListingStore,
  POD_CREATED_STATE,
  readEarliestError,
  readErrorDocument,
  readOrRetryLater,
  readResult,
  resultStatus,
} from "@flyte-ts/pod-task";
import { type LogLink } from "@flyte-ts/pod-task/logs";
import type { WarningOf } from "@flyte-ts/pod-task/warnings";
import type { PermanentFailure, Progress, RetryableFailure, TerminalStatus } from "@flyte-ts/task-plugin";
import type { ResultLimits } from "@flyte-ts/task-plugin/files";
import type { JobState, Operator } from "../operator.js";
import { type ObservedJob, observeJob } from "./observe-job.js";
import { reportPods } from "./pod-report.js";

export interface JobStatusDeps {
  readonly store: ListingStore;
  readonly clock: Time;
  readonly gracePeriods: GracePeriods;
  readonly operatorTimeoutMs: number;
  readonly limits: ResultLimits;
  readonly logLinks: readonly LogLink[];
  /** Absent: no warnings are known. */
  readonly warningOf?: WarningOf;
}

export type JobReading =
  | { readonly kind: "progress"; readonly status: Progress; readonly recheckAt: Date | undefined }
  /** `premature`: the operator still works on the job. */
  | { readonly kind: "ended"; readonly status: TerminalStatus; readonly premature: boolean };

/** Plugin state: the resource of the attempt was created. */
export const JOB_CREATED_STATE = POD_CREATED_STATE;

// Limits memory: each result may hold outputs of some KiB.
const MAX_CACHED_RESULTS = 2_000;

/**
 * Derives the status of an attempt from its job and, once that has ended, from the attempt's files.
 */
export class JobStatusReader {
  readonly #results = new BoundedMap<string, JobReading>(MAX_CACHED_RESULTS);

  constructor(private readonly deps: JobStatusDeps) {}

  /** @throws RetryLater when the files of an ended job cannot be read now. */
  async read(observed: ObservedJob, request: TaskRequest): Promise<JobReading> {
    const { uid = "" } = observed.job.metadata;
    const known = this.#results.get(uid);
    if (known !== undefined) return known;
    const { clock, gracePeriods, operatorTimeoutMs, logLinks: links, warningOf } = this.deps;
    const now = new Date(clock.now());
    const { operator, job, pods } = observed;
    const { state, premature, recheckAt } = observeJob(observed, { gracePeriods, operatorTimeoutMs, now, warningOf });
    const own = operator.details(job, state);
    const { logs, externalResources } = reportPods(pods, { operator, request, links, gracePeriods, now });
    const details = {
      logs: [...(own.links ?? []), ...logs],
      externalResources,
      pluginState: JOB_CREATED_STATE,
      ...(own.customInfo === undefined ? {} : { customInfo: own.customInfo }),
    };
    if (state.kind === "progress") {
      const { phase, reason } = state;
      return { kind: "progress", status: { phase, ...(reason === undefined ? {} : { reason }), ...details }, recheckAt };
    }
    const end = await this.#readEnd(state, observed, request);
    const reading: JobReading = { kind: "ended", premature, status: { ...end, ...details, occurredAt: state.endedAt ?? now } };
    this.#results.set(uid, reading);
    return reading;
  }

  /** True when the result of this job, identified by its uid, has been read. */
  hasResult({ metadata: { uid = "" } }: ObservedJob["job"]): boolean {
    return this.#results.get(uid) !== undefined;
  }

  /**
   * Returns the terminal status. Error documents of the task's processes take precedence over the
   * operator's error, which contains no cause.
   */
  async #readEnd(
    state: Exclude<JobState, { readonly kind: "progress" }>,
    { operator }: ObservedJob,
    request: TaskRequest,
  ): Promise<TerminalStatus> {
    const { store, limits } = this.deps;
    const reported = await this.#read(() => this.#readError(state, operator, request));
    if (reported !== undefined) return { phase: "FAILED", failure: reported };
    if (state.kind === "failed") return { phase: "FAILED", failure: state.failure };
    return resultStatus(await this.#read(() => readResult(store, request, limits)));
  }

  /**
   * Reads the processes' error documents. With a single process, a success needs no read:
   * `readResult` reads its `error.pb`.
   */
  async #readError(
    { kind }: JobState,
    { workersWriteErrors }: Operator,
    request: TaskRequest,
  ): Promise<PermanentFailure | RetryableFailure | undefined> {
    const { store, limits } = this.deps;
    if (workersWriteErrors) return readEarliestError(store, request, limits);
    return kind === "failed" ? readErrorDocument(store, request, limits) : undefined;
  }

  #read<T>(read: () => Promise<T>): Promise<T> {
    return readOrRetryLater(read, JOB_CREATED_STATE);
  }
}
