import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { BlobReader } from "@flyte-ts/input-limits";
import type { Failed, Succeeded } from "@flyte-ts/task-plugin";
import { ApiError } from "../frame/call/api-error.js";
import type { EndedObservation } from "../frame/observation.js";
import type { Reading, WebApi } from "../frame/web-api.js";
import { readInputs } from "../task/inputs.js";
import { resultOutputs } from "../task/result-outputs.js";
import type { BigQueryCalls } from "./bigquery-client.js";
import { type BigQueryJob, bigQueryJob } from "./bigquery-job.js";
import { ATTEMPT_LABEL, attemptLabel, jobLabels } from "./labels.js";
import { observeQueryJob } from "./observe-query-job.js";
import { queryConfiguration, targetOf } from "./query-configuration.js";
import { queryParameters } from "./query-parameters.js";

export interface BigQueryDeps {
  readonly calls: Pick<BigQueryCalls, "insert" | "get" | "cancel">;
  readonly blobs: BlobReader;
}

/** Runs queries of `bigquery_query_job_task` tasks in BigQuery. */
export class BigQueryApi implements WebApi<BigQueryJob> {
  readonly id = "bigquery";
  readonly pluginIdentifier = "bigquery";
  /** BigQuery reads one job per call. */
  readonly maxBatch = 1;

  constructor(private readonly deps: BigQueryDeps) {}

  parseJob(value: unknown): BigQueryJob | undefined {
    return bigQueryJob.safeParse(value).data;
  }

  async prepare(request: TaskRequest): Promise<() => Promise<BigQueryJob>> {
    const target = targetOf(request);
    const query = queryConfiguration(request, queryParameters(await readInputs(request, this.deps.blobs)));
    const configuration = { query, labels: jobLabels(request) };
    return async () => {
      for (const job of candidates(request, target)) {
        if ((await this.deps.calls.insert(job, configuration)) === "inserted" || (await this.#isOwn(request, job))) return job;
      }
      const message = `jobs ${request.generatedName} of other executions exist in project ${target.project}`;
      throw new ApiError("invalid", { code: "duplicate", message });
    };
  }

  async find(request: TaskRequest): Promise<BigQueryJob | undefined> {
    for (const job of candidates(request, targetOf(request))) {
      if (await this.#isOwn(request, job)) return job;
    }
    return undefined;
  }

  async read(jobs: readonly BigQueryJob[]): Promise<readonly Reading<BigQueryJob>[]> {
    return Promise.all(
      jobs.map(async (job): Promise<Reading<BigQueryJob>> => {
        try {
          return { kind: "observed", observation: observeQueryJob(job, await this.deps.calls.get(job)) };
        } catch (error) {
          if (error instanceof ApiError) return { kind: "failed", error };
          throw error;
        }
      }),
    );
  }

  async stop(job: BigQueryJob): Promise<void> {
    await this.deps.calls.cancel(job);
  }

  async complete(request: TaskRequest, _job: BigQueryJob, observation: EndedObservation): Promise<Succeeded | Failed> {
    const { details } = observation;
    if (observation.state === "FAILED") return { phase: "FAILED", failure: observation.failure, ...details };
    // A statement without rows, such as DDL, has no destination table.
    const outputs = observation.resultUri === undefined ? undefined : resultOutputs(request, observation.resultUri, "");
    return { phase: "SUCCEEDED", ...details, ...(outputs && { outputs }) };
  }

  /** True for a job of this attempt; one of a deleted execution may have the same id. */
  async #isOwn(request: TaskRequest, job: BigQueryJob): Promise<boolean> {
    try {
      const { configuration } = await this.deps.calls.get(job);
      return configuration?.labels?.[ATTEMPT_LABEL] === attemptLabel(request);
    } catch (error) {
      if (error instanceof ApiError && error.kind === "missing") return false;
      throw error;
    }
  }
}

/** Ids of the attempt's job: the generated name, and an alternative in case it is taken. */
function candidates(request: TaskRequest, target: { readonly project: string; readonly location: string }): readonly BigQueryJob[] {
  const { generatedName } = request;
  return [generatedName, `${generatedName}-${attemptLabel(request)}`].map((jobId) => ({ ...target, jobId }));
}
