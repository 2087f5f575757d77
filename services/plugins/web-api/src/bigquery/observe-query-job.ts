import { externalResource, link } from "../frame/details.js";
import type { JobDetails, Observation } from "../frame/observation.js";
import { bigQueryFailure, type BigQueryError } from "./bigquery-failure.js";
import type { BigQueryJob } from "./bigquery-job.js";

interface TableReference {
  readonly projectId?: string | null | undefined;
  readonly datasetId?: string | null | undefined;
  readonly tableId?: string | null | undefined;
}

/** Fields of BigQuery's Job resource that determine its state. */
export interface QueryJobResource {
  readonly jobReference?: { readonly location?: string | null | undefined } | undefined;
  readonly status?: { readonly state?: string | null | undefined; readonly errorResult?: BigQueryError | null | undefined } | undefined;
  readonly configuration?: {
    readonly labels?: Readonly<Record<string, string>> | null | undefined;
    readonly query?: { readonly destinationTable?: TableReference | null | undefined } | null | undefined;
  };
}

/** Maps an answer of jobs.get. */
export function observeQueryJob(job: BigQueryJob, resource: QueryJobResource): Observation {
  const { state, errorResult } = resource.status ?? {};
  const details = queryJobDetails(job, errorResult ? "FAILED" : (state ?? undefined));
  switch (state) {
    case "DONE": {
      if (errorResult)
        return { state: "FAILED", details, failure: bigQueryFailure(errorResult), stopped: errorResult.reason === "stopped" };
      const resultUri = tableUri(resource.configuration?.query?.destinationTable);
      return { state: "SUCCEEDED", details, ...(resultUri !== undefined && { resultUri }) };
    }
    case "RUNNING":
      return { state: "RUNNING", reason: "Query is RUNNING", details };
    default:
      return { state: "QUEUED", reason: "Query is PENDING", details };
  }
}

function tableUri(table: TableReference | null | undefined): string | undefined {
  if (!table?.projectId || !table.datasetId || !table.tableId) return undefined;
  return `bq://${table.projectId}:${table.datasetId}.${table.tableId}`;
}

function queryJobDetails({ project, location, jobId }: BigQueryJob, state: string | undefined): JobDetails {
  const place = location === "" ? "" : `${location}:`;
  const uri = `https://console.cloud.google.com/bigquery?project=${project}&j=bq:${place}${jobId}&page=queryresults`;
  return { logs: [link("BigQuery Console", uri)], externalResources: [externalResource({ id: jobId, state })] };
}
