import type { IncomingMessage } from "node:http";
import type { DatabaseSync } from "node:sqlite";
import { type Answer, type Call, HttpStandIn } from "./http-stand-in.fixture.js";
import { BigQueryFailure, type QueryParameter, runQuery, type Table, tablesOf } from "./bigquery-query.fixture.js";

interface TableReference {
  readonly projectId: string;
  readonly datasetId: string;
  readonly tableId: string;
}

interface QueryConfiguration {
  readonly query: string;
  readonly destinationTable?: TableReference;
  readonly queryParameters?: readonly QueryParameter[];
}

interface JobInput {
  readonly jobReference: { readonly projectId: string; readonly jobId: string; readonly location?: string };
  readonly configuration: { readonly query: QueryConfiguration; readonly labels?: Readonly<Record<string, string>> };
}

interface ErrorProto {
  readonly reason: string;
  readonly message: string;
}

export interface ExecutedQuery {
  readonly input: JobInput;
  readonly location: string;
  readonly destinationTable: TableReference;
  state: "PENDING" | "RUNNING" | "DONE";
  errorResult?: ErrorProto;
}

const JOBS = /^\/bigquery\/v2\/projects\/([^/]+)\/jobs(?:\/([^/]+?)(\/cancel)?)?$/;
const RESULTS = /^\/bigquery\/v2\/projects\/([^/]+)\/queries\/([^/]+)$/;
const TABLE = /^\/bigquery\/v2\/projects\/([^/]+)\/datasets\/([^/]+)\/tables\/([^/]+)$/;

/**
 * Speaks six calls of BigQuery's REST API and executes queries in SQLite: jobs.insert, jobs.get,
 * jobs.list, jobs.cancel, jobs.getQueryResults, tables.get. The id of a job is unique in its
 * project. A call without a location reaches jobs in the US and EU alone.
 */
export class BigQueryServer extends HttpStandIn {
  readonly jobs = new Map<string, ExecutedQuery>();
  /** Location of the datasets, where jobs without one of their own are placed. */
  home = "US";
  /** Queries do not start until it resolves. */
  gate: Promise<unknown> = Promise.resolve();
  readonly #tables = tablesOf();
  #inserted = 0;

  /** Tables with rows, for the queries of a test. */
  get database(): DatabaseSync {
    return this.#tables.database;
  }

  /** Number of jobs that jobs.insert created. */
  get inserted(): number {
    return this.#inserted;
  }

  get running(): number {
    return [...this.jobs.values()].filter(({ state }) => state !== "DONE").length;
  }

  protected override operationOf({ method, url = "" }: IncomingMessage): string {
    const { pathname } = new URL(url, "http://host");
    const [, , jobId, cancel] = JOBS.exec(pathname) ?? [];
    if (cancel !== undefined) return "jobs.cancel";
    if (RESULTS.test(pathname)) return "jobs.getQueryResults";
    if (TABLE.test(pathname)) return "tables.get";
    if (jobId === undefined && JOBS.test(pathname)) return method === "POST" ? "jobs.insert" : "jobs.list";
    return jobId === undefined ? `${method} ${pathname}` : "jobs.get";
  }

  protected override answer({ operation, url, input }: Call): Answer {
    const location = url.searchParams.get("location") ?? undefined;
    const [, project = "", jobId = ""] = JOBS.exec(url.pathname) ?? RESULTS.exec(url.pathname) ?? [];
    const [, tableProject = "", dataset = "", table = ""] = TABLE.exec(url.pathname) ?? [];
    try {
      switch (operation) {
        case "jobs.insert":
          return { body: resourceOf(this.#insert(project, input as JobInput)) };
        case "jobs.list":
          return { body: { kind: "bigquery#jobList", jobs: [...this.jobs.values()].reverse().map(resourceOf) } };
        case "jobs.get":
          return { body: resourceOf(this.#find(project, jobId, location)) };
        case "jobs.cancel":
          return { body: { kind: "bigquery#jobCancelResponse", job: resourceOf(cancelled(this.#find(project, jobId, location))) } };
        case "jobs.getQueryResults":
          return { body: this.#results(this.#find(project, jobId, location)) };
        case "tables.get":
          return { body: { kind: "bigquery#table", ...this.#table({ projectId: tableProject, datasetId: dataset, tableId: table }) } };
        default:
          return googleRefusal(404, "notFound", `no such method: ${operation}`);
      }
    } catch (error) {
      if (error instanceof BigQueryFailure) return googleRefusal(error.status, error.reason, error.message);
      throw error;
    }
  }

  #insert(project: string, input: JobInput): ExecutedQuery {
    const { jobId, location = this.home } = input.jobReference;
    const key = `${project}/${jobId}`;
    if (this.jobs.has(key)) throw new BigQueryFailure(409, "duplicate", `Already Exists: Job ${project}:${location}.${jobId}`);
    if (location.length > 12) throw new BigQueryFailure(400, "invalid", `Invalid location ${location}`);
    const anonymous = { projectId: project, datasetId: "_anonymous", tableId: `anon${this.#inserted++}` };
    const destinationTable = input.configuration.query.destinationTable ?? anonymous;
    const job: ExecutedQuery = { input, location, destinationTable, state: "PENDING" };
    this.jobs.set(key, job);
    // BigQuery parses a statement before it answers.
    const { syntaxError } = this.#tables.parse(input.configuration.query.query);
    if (syntaxError !== undefined) Object.assign(job, { state: "DONE", errorResult: { reason: "invalidQuery", message: syntaxError } });
    else void this.#run(job);
    return job;
  }

  async #run(job: ExecutedQuery): Promise<void> {
    await this.gate;
    if (job.state !== "PENDING") return;
    job.state = "RUNNING";
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (!isOpen(job)) return;
    const { query, queryParameters = [] } = job.input.configuration.query;
    const errorResult = runQuery(this.#tables, { query, queryParameters, table: nameOf(job.destinationTable) });
    Object.assign(job, { state: "DONE", ...(errorResult && { errorResult }) });
  }

  #find(project: string, jobId: string, location: string | undefined): ExecutedQuery {
    const found = this.jobs.get(`${project}/${jobId}`);
    const places = location === undefined ? ["US", "EU"] : [location];
    if (found === undefined || !places.includes(found.location))
      throw new BigQueryFailure(404, "notFound", `Not found: Job ${project}:${places[0]}.${jobId}`);
    return found;
  }

  #table(reference: TableReference): Table & { readonly tableReference: TableReference } {
    const table = this.#tables.read(nameOf(reference));
    if (table === undefined) throw new BigQueryFailure(404, "notFound", `Not found: Table ${nameOf(reference)}`);
    return { tableReference: reference, ...table };
  }

  #results(job: ExecutedQuery): object {
    const { jobReference } = job.input;
    if (isOpen(job)) return { kind: "bigquery#getQueryResultsResponse", jobReference, jobComplete: false };
    if (job.errorResult) throw new BigQueryFailure(400, job.errorResult.reason, job.errorResult.message);
    const { schema, rows, numRows } = this.#table(job.destinationTable);
    return { kind: "bigquery#getQueryResultsResponse", jobReference, jobComplete: true, schema, rows, totalRows: numRows };
  }
}

function isOpen({ state }: ExecutedQuery): boolean {
  return state !== "DONE";
}

function cancelled(job: ExecutedQuery): ExecutedQuery {
  if (isOpen(job)) Object.assign(job, { state: "DONE", errorResult: { reason: "stopped", message: "Job execution was cancelled" } });
  return job;
}

function nameOf({ projectId, datasetId, tableId }: TableReference): string {
  return `${projectId}.${datasetId}.${tableId}`;
}

function resourceOf({ input, location, destinationTable, state, errorResult }: ExecutedQuery): object {
  const { configuration, jobReference } = input;
  return {
    kind: "bigquery#job",
    jobReference: { ...jobReference, location },
    configuration: { ...configuration, jobType: "QUERY", query: { ...configuration.query, destinationTable } },
    status: { state, ...(errorResult && { errorResult, errors: [errorResult] }) },
  };
}

/** An error as Google's REST APIs answer it. */
export function googleRefusal(code: number, reason: string, message = reason): Answer {
  return { status: code, body: { error: { code, message, errors: [{ reason, message, domain: "global" }] } } };
}
