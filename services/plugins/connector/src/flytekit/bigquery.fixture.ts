import type { RemoteJobs } from "./remote-jobs.fixture.js";
import type { Api } from "./stand-in-server.fixture.js";

const JOBS = /^\/bigquery\/v2\/projects\/a-project\/jobs(?:\/([^/]+)(\/cancel)?)?$/;
const STATES = { pending: "PENDING", running: "RUNNING", succeeded: "DONE", failed: "DONE", cancelled: "DONE" } as const;

interface QueryJob {
  readonly jobReference: { readonly jobId: string };
  readonly configuration: {
    readonly query: { readonly queryParameters: readonly { readonly name: string; readonly parameterValue: { readonly value: string } }[] };
  };
}

/** BigQuery's jobs. The parameter `mode` of a query is the mode of its job. */
export function bigQueryApi(jobs: RemoteJobs): Api {
  const bodies = new Map<string, QueryJob>();
  const resource = (id: string) => {
    const state = jobs.read(id) ?? "failed";
    const error = { reason: state === "cancelled" ? "stopped" : "invalidQuery", message: `the query has ${state}`, location: "query" };
    const query = {
      ...bodies.get(id)?.configuration.query,
      destinationTable: { projectId: "a-project", datasetId: "anonymous", tableId: id },
    };
    return {
      id,
      jobReference: { projectId: "a-project", jobId: id, location: "EU" },
      configuration: { jobType: "QUERY", query },
      status: { state: STATES[state], ...(state === "failed" || state === "cancelled" ? { errorResult: error, errors: [error] } : {}) },
      statistics: {},
    };
  };
  return ({ method, path, body }) => {
    if (path === "/token") return { body: { access_token: "bigquery-secret-token", expires_in: 3_600, token_type: "Bearer" } };
    const [matched, id, cancel] = JOBS.exec(path) ?? [];
    if (matched === undefined) return undefined;
    if (id === undefined && method === "POST") {
      const job = body as QueryJob;
      const { jobId } = job.jobReference;
      bodies.set(jobId, job);
      const mode = job.configuration.query.queryParameters.find(({ name }) => name === "mode");
      jobs.start(jobId, mode?.parameterValue.value ?? "");
      return { body: resource(jobId) };
    }
    if (id === undefined) return undefined;
    if (cancel !== undefined) jobs.cancel(id);
    return { body: cancel === undefined ? resource(id) : { job: resource(id) } };
  };
}
