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
import { observeQueryJob, type QueryJobResource } from "./observe-query-job.js";
import { queryConfiguration, targetOf } from "./query-configuration.js";
import { queryParameters } from "./query-parameters.js";

export interface BigQueryDeps {
  readonly calls: Pick<BigQueryCalls, "insert" | "get" | "cancel" | "locate">;
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
        const { outcome, job: placed } = await this.deps.calls.insert(job, configuration);
        const own = outcome === "inserted" ? placed : await this.#own(request, placed);
        if (own !== undefined) return own;
      }
      const message = `jobs ${request.generatedName} of other executions exist in project ${target.project}`;
      throw new ApiError("invalid", { code: "duplicate", message });
    };
  }

  async find(request: TaskRequest): Promise<BigQueryJob | undefined> {
    for (const job of candidates(request, targetOf(request))) {
      const own = await this.#own(request, job);
      if (own !== undefined) return own;
    }
    return undefined;
  }

  async read(jobs: readonly BigQueryJob[]): Promise<readonly Reading<BigQueryJob>[]> {
    return Promise.all(
      jobs.map(async (job): Promise<Reading<BigQueryJob>> => {
        try {
          const found = await this.#get(job);
          return { kind: "observed", observation: observeQueryJob(found.job, found.resource), job: found.job };
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

  /** Returns a job of this attempt; one of a deleted execution may have the same id. */
  async #own(request: TaskRequest, candidate: BigQueryJob): Promise<BigQueryJob | undefined> {
    try {
      const { job, resource } = await this.#get(candidate);
      return resource.configuration?.labels?.[ATTEMPT_LABEL] === attemptLabel(request) ? job : undefined;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** Reads a job, also one whose location is unknown, and returns it with its location. */
  async #get(job: BigQueryJob): Promise<{ readonly job: BigQueryJob; readonly resource: QueryJobResource }> {
    try {
      const resource = await this.deps.calls.get(job);
      return { job: { ...job, location: resource.jobReference?.location || job.location }, resource };
    } catch (error) {
      const located = isMissing(error) && job.location === "" ? await this.deps.calls.locate(job) : undefined;
      if (located === undefined) throw error;
      return { job: located, resource: await this.deps.calls.get(located) };
    }
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.kind === "missing";
}

/** Ids of the attempt's job: the generated name, and an alternative in case it is taken. */
function candidates(request: TaskRequest, target: { readonly project: string; readonly location: string }): readonly BigQueryJob[] {
  const { generatedName } = request;
  return [generatedName, `${generatedName}-${attemptLabel(request)}`].map((jobId) => ({ ...target, jobId }));
}
