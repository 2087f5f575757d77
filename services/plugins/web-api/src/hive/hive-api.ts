import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { Failed, Succeeded } from "@flyte-ts/task-plugin";
import { ApiError } from "../frame/call/api-error.js";
import type { EndedObservation } from "../frame/observation.js";
import type { CreateOptions, Reading, WebApi } from "../frame/web-api.js";
import { resultOutputs } from "../task/result-outputs.js";
import { hiveAttempt } from "./hive-attempt.js";
import type { HiveClient } from "./hive-client.js";
import { type HiveJob, hiveJob } from "./hive-job.js";
import type { HiveQuerySettings } from "./hive-query.js";
import { HiveSessions } from "./hive-sessions.js";
import { observeOperation, stepProgress } from "./observe-operation.js";
import { type RecordStore, SessionRecord } from "./session-record.js";

export interface HiveDeps {
  readonly client: HiveClient;
  readonly store: RecordStore;
  readonly settings: HiveQuerySettings;
}

/**
 * Runs queries of `hive` tasks in HiveServer2 or Spark's Thrift server, statement by statement in a
 * session of the attempt. HiveServer2 cannot recognise a repeated call, so the session is recorded
 * before a statement is started: closing it stops a statement whose answer was lost.
 */
export class HiveApi implements WebApi<HiveJob> {
  readonly id = "hive";
  readonly pluginIdentifier = "hive";
  readonly maxBatch = 1;
  readonly #sessions: HiveSessions;

  constructor(private readonly deps: HiveDeps) {
    this.#sessions = new HiveSessions(deps.client);
  }

  parseJob(value: unknown): HiveJob | undefined {
    return hiveJob.safeParse(value).data;
  }

  async prepare(request: TaskRequest): Promise<(options: CreateOptions) => Promise<HiveJob>> {
    const { store, settings } = this.deps;
    const attempt = await hiveAttempt(request, store, settings);
    return async ({ mayExist }) => {
      const earlier = mayExist ? await attempt.record.read() : undefined;
      if (earlier !== undefined && earlier.operation !== "") return this.#sessions.add(attempt, earlier);
      if (earlier !== undefined) await this.#sessions.close(earlier);
      return this.#sessions.open(attempt);
    };
  }

  async adopt(request: TaskRequest, job: HiveJob): Promise<HiveJob> {
    const { store, settings } = this.deps;
    if (job.steps === 1) return job;
    const attempt = await hiveAttempt(request, store, settings);
    const recorded = await attempt.record.read();
    return this.#sessions.add(attempt, recorded?.session === job.session ? recorded : job);
  }

  async find({ outputPrefix }: TaskRequest): Promise<HiveJob | undefined> {
    return new SessionRecord(this.deps.store, outputPrefix).read();
  }

  async read(jobs: readonly HiveJob[], { stopping } = { stopping: false }): Promise<readonly Reading<HiveJob>[]> {
    return Promise.all(
      jobs.map(async (job): Promise<Reading<HiveJob>> => {
        try {
          return await this.#read(job, stopping);
        } catch (error) {
          if (error instanceof ApiError) return { kind: "failed", error };
          throw error;
        }
      }),
    );
  }

  async stop(job: HiveJob): Promise<void> {
    await this.#sessions.close(job);
  }

  async complete(request: TaskRequest, _job: HiveJob, observation: EndedObservation): Promise<Succeeded | Failed> {
    const { details } = observation;
    if (observation.state === "FAILED") return { phase: "FAILED", failure: observation.failure, ...details };
    const outputs = resultOutputs(request, request.rawOutputPrefix, "parquet");
    return { phase: "SUCCEEDED", ...details, ...(outputs && { outputs }) };
  }

  forget(job: HiveJob): void {
    this.#sessions.forget(job);
  }

  /** Closes the session. Until then its statement answers for repeated requests. */
  async release({ outputPrefix, deleteResources }: TaskRequest): Promise<void> {
    const record = new SessionRecord(this.deps.store, outputPrefix);
    const job = await record.read();
    if (job !== undefined) await this.#sessions.close(job);
    if (deleteResources) await record.delete();
  }

  async #read(job: HiveJob, stopping: boolean): Promise<Reading<HiveJob>> {
    if (this.#sessions.isClosed(job)) throw new ApiError("missing", { code: "SessionClosed", message: "the session was closed" });
    if (job.operation === "") return stopping ? stepProgress(job) : this.#sessions.startAgain(job);
    const observation = observeOperation(job, await this.deps.client.operationStatus(job.operation));
    if (observation.state !== "SUCCEEDED" || job.step + 1 >= job.steps) return { kind: "observed", observation };
    return stopping ? stepProgress(job) : this.#sessions.startNext(job);
  }
}
