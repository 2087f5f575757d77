import type { JsonObject } from "@bufbuild/protobuf";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { Failed, Succeeded } from "@flyte-ts/task-plugin";
import type { ApiError } from "./call/api-error.js";
import type { EndedObservation, Observation } from "./observation.js";

export interface CreateOptions {
  /**
   * True when an earlier call may have created the job: an answer was lost, or a process ended
   * between the call and its record.
   */
  readonly mayExist: boolean;
}

/** Result of reading one job. */
export type Reading<Job> =
  | {
      readonly kind: "observed";
      readonly observation: Observation;
      /** The job with changed fields, to be recorded; absent: unchanged. */
      readonly job?: Job;
    }
  | { readonly kind: "failed"; readonly error: ApiError };

/**
 * One API that runs jobs. Calls go through the API's Endpoint and throw ApiError. `Job` names a
 * created job; it is stored in the plugin state and holds no secrets.
 */
export interface WebApi<Job extends JsonObject> {
  /** Name in the plugin state, metrics and settings. */
  readonly id: string;
  /** `plugin_identifier` of events. */
  readonly pluginIdentifier: string;
  /** Maximum number of jobs of one `read`. */
  readonly maxBatch: number;
  /** True when reading a job can start it: an abort then stops it first. */
  readonly stopsBeforeRead?: boolean;
  /** Reads a job from the plugin state; undefined when it is of another form. */
  parseJob(value: unknown): Job | undefined;
  /**
   * Validates the task and returns the function that creates its job, at most once.
   * @throws PermanentFailure for a bad specification; RetryLater.
   */
  prepare(request: TaskRequest): Promise<(options: CreateOptions) => Promise<Job>>;
  /**
   * Restores after a restart what the API remembers of a recorded job. Returns the job, which may
   * have changed since the record.
   * @throws PermanentFailure for a bad specification; BlobUnavailableError.
   */
  adopt?(request: TaskRequest, job: Job): Promise<Job>;
  /** Finds a job that was created for the attempt without a record; undefined: there is none. */
  find(request: TaskRequest): Promise<Job | undefined>;
  /**
   * Reads the states of up to `maxBatch` jobs, in their order. A reading of a job that is being
   * stopped has no effects.
   */
  read(jobs: readonly Job[], options?: { readonly stopping: boolean }): Promise<readonly Reading<Job>[]>;
  /** Requests the API to stop the job. A job that has ended is no error. */
  stop(job: Job, reason: string): Promise<void>;
  /** Reads the results of an ended job. */
  complete(request: TaskRequest, job: Job, observation: EndedObservation): Promise<Succeeded | Failed>;
  /** Discards cached data about the job. */
  forget?(job: Job): void;
  /**
   * Releases what an attempt keeps, once its end is recorded. May be repeated.
   * @throws ApiError, BlobUnavailableError
   */
  release?(request: TaskRequest): Promise<void>;
}
