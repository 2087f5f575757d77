import type { JsonObject } from "@bufbuild/protobuf";
import type { BigQueryDeps } from "../bigquery/bigquery-api.js";
import type { Insertion } from "../bigquery/bigquery-client.js";
import type { BigQueryJob } from "../bigquery/bigquery-job.js";
import { googleError } from "../bigquery/google-errors.js";
import { ApiError } from "../frame/call/api-error.js";
import type { Endpoint } from "../frame/call/endpoint.js";
import { Faults } from "./faults.fixture.js";

interface Job {
  readonly location: string;
  readonly configuration: JsonObject;
  state: "PENDING" | "RUNNING" | "DONE";
  errorResult?: { reason: string; message: string } | undefined;
}

/**
 * BigQuery in memory. A job id is unique; jobs run until the test ends them. A call without a
 * location reaches jobs in the US and EU alone.
 */
export class FakeBigQuery {
  readonly jobs = new Map<string, Job>();
  readonly faults = new Faults();
  /** Location of the datasets, where jobs without one of their own are placed. */
  home = "US";
  starts = 0;

  finish(errorResult?: { reason: string; message: string }): void {
    for (const job of this.jobs.values()) if (job.state !== "DONE") Object.assign(job, { state: "DONE", errorResult });
  }

  get running(): number {
    return [...this.jobs.values()].filter(({ state }) => state !== "DONE").length;
  }

  /** The calls of a process, with the errors that the official client throws. */
  calls(endpoint: Endpoint): BigQueryDeps["calls"] {
    const apply = <T>(call: () => T) => this.faults.apply(call).catch((error: unknown) => Promise.reject(googleError(error)));
    return {
      insert: (job, configuration) => endpoint.write("jobs.insert", () => apply(() => this.#insert(job, configuration))),
      get: (job) => endpoint.read("jobs.get", () => apply(() => this.#get(job))),
      locate: (job) =>
        endpoint.read("jobs.list", () =>
          apply(() => {
            const found = this.jobs.get(keyOf(job));
            return found && { ...job, location: found.location };
          }),
        ),
      cancel: (job) =>
        endpoint.write("jobs.cancel", () =>
          apply(() => {
            const found = this.#find(job);
            if (found.state !== "DONE") Object.assign(found, { state: "DONE", errorResult: { reason: "stopped", message: "Job stopped" } });
          }),
        ),
    };
  }

  #insert(job: BigQueryJob, configuration: JsonObject): Insertion {
    const known = this.jobs.get(keyOf(job));
    const location = known?.location ?? (job.location || this.home);
    if (known !== undefined) return { outcome: "exists", job: { ...job, location } };
    this.starts++;
    this.jobs.set(keyOf(job), { location, configuration, state: "PENDING" });
    return { outcome: "inserted", job: { ...job, location } };
  }

  #get(job: BigQueryJob) {
    const found = this.#find(job);
    const { location, state, errorResult } = found;
    if (state === "PENDING") found.state = "RUNNING";
    const labels = found.configuration.labels as Record<string, string>;
    const destinationTable = { projectId: job.project, datasetId: "_anonymous", tableId: "anon1" };
    return {
      jobReference: { location },
      status: { state, ...(errorResult && { errorResult }) },
      configuration: { labels, query: { destinationTable } },
    };
  }

  #find(job: BigQueryJob): Job {
    const found = this.jobs.get(keyOf(job));
    const places = job.location === "" ? ["US", "EU"] : [job.location];
    if (found === undefined || !places.includes(found.location))
      throw new ApiError("missing", { code: "http404", message: `Not found: Job ${job.jobId}` });
    return found;
  }
}

function keyOf({ project, jobId }: BigQueryJob): string {
  return `${project}/${jobId}`;
}
