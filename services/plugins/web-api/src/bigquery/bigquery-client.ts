import { BigQuery } from "@google-cloud/bigquery";
import type { JsonObject } from "@bufbuild/protobuf";
import { BoundedMap } from "@flyte-ts/async";
import { type AuthClient, PassThroughClient } from "google-auth-library";
import { ApiError } from "../frame/call/api-error.js";
import type { Endpoint } from "../frame/call/endpoint.js";
import type { BigQueryJob } from "./bigquery-job.js";
import { googleError, googleStatus } from "./google-errors.js";
import type { QueryJobResource } from "./observe-query-job.js";

export interface BigQueryAccess {
  /** Absent: Google's own. */
  readonly endpoint?: string | undefined;
  /** Sends requests without credentials, for stand-ins. */
  readonly anonymous: boolean;
}

/** Maximum number of clients. Each project has its own, and tasks name the projects. */
const MAX_PROJECTS = 100;
const TIMEOUT_MS = 20_000;

/** Pages of the newest jobs in which one of an unknown location is looked for. */
const MAX_LIST_PAGES = 4;
const LIST_PAGE_SIZE = 500;

/** Result of an insertion. */
export interface Insertion {
  /** `exists`: there was a job of that id. */
  readonly outcome: "inserted" | "exists";
  /** The job with the location in which BigQuery has it, where the answer tells it. */
  readonly job: BigQueryJob;
}

/** The calls of BigQuery, each through the endpoint. @throws ApiError */
export class BigQueryCalls {
  readonly #clients = new BoundedMap<string, BigQuery>(MAX_PROJECTS);

  constructor(
    private readonly access: BigQueryAccess,
    private readonly endpoint: Endpoint,
  ) {}

  insert(job: BigQueryJob, configuration: JsonObject): Promise<Insertion> {
    const { project, location, jobId } = job;
    const options = { jobId, configuration, ...(location !== "" && { location }) };
    return this.endpoint.write("jobs.insert", async () => {
      try {
        const [, resource] = await this.#client(project).createJob(options);
        return { outcome: "inserted", job: placed(job, resource.jobReference?.location) };
      } catch (error) {
        if (googleStatus(error) === 409) return { outcome: "exists", job: placed(job, locationIn(error, jobId)) };
        // The client throws the errors of a job that was inserted and failed at once.
        const reference = insertedReference(error);
        if (reference !== undefined) return { outcome: "inserted", job: placed(job, reference.location) };
        throw googleError(error);
      }
    });
  }

  get(job: BigQueryJob): Promise<QueryJobResource> {
    return this.endpoint.read("jobs.get", async () => {
      const [resource] = await mapError(() => this.#job(job).getMetadata());
      return resource as QueryJobResource;
    });
  }

  /**
   * Looks for a job of an unknown location among the newest ones of its project. Rights may hide
   * the list: the job is then not found.
   */
  async locate(job: BigQueryJob): Promise<BigQueryJob | undefined> {
    let pageToken: string | undefined;
    for (let page = 0; page < MAX_LIST_PAGES; page++) {
      const { references, next } = await this.#list(job.project, pageToken).catch(asHidden);
      const found = references.find(({ jobId, location }) => jobId === job.jobId && location !== undefined);
      if (found !== undefined) return placed(job, found.location);
      if (next === undefined) return undefined;
      pageToken = next;
    }
    return undefined;
  }

  #list(project: string, pageToken: string | undefined): Promise<JobPage> {
    const options = { autoPaginate: false, maxResults: LIST_PAGE_SIZE, ...(pageToken !== undefined && { pageToken }) };
    return this.endpoint.read("jobs.list", async () => {
      const [jobs, next] = await mapError(() => this.#client(project).getJobs(options));
      const references = jobs.map(({ id, location }) => ({ jobId: id ?? "", location }));
      return { references, next: (next as { readonly pageToken?: string } | null | undefined)?.pageToken };
    });
  }

  async cancel(job: BigQueryJob): Promise<void> {
    await this.endpoint.write("jobs.cancel", () => mapError(() => this.#job(job).cancel()));
  }

  #job({ project, location, jobId }: BigQueryJob) {
    return this.#client(project).job(jobId, location === "" ? {} : { location });
  }

  #client(projectId: string): BigQuery {
    const known = this.#clients.get(projectId);
    if (known !== undefined) return known;
    const { endpoint, anonymous } = this.access;
    const client = new BigQuery({
      projectId,
      autoRetry: false,
      ...(endpoint !== undefined && { apiEndpoint: endpoint }),
      ...(anonymous && { authClient: new PassThroughClient() as AuthClient }),
    });
    client.timeout = TIMEOUT_MS;
    this.#clients.set(projectId, client);
    return client;
  }
}

interface JobPage {
  readonly references: readonly { readonly jobId: string; readonly location: string | undefined }[];
  readonly next: string | undefined;
}

function placed(job: BigQueryJob, location: string | null | undefined): BigQueryJob {
  return location ? { ...job, location } : job;
}

function insertedReference(error: unknown): { readonly location?: string } | undefined {
  const { response } = error as { readonly response?: { readonly jobReference?: { readonly location?: string } } };
  return response?.jobReference;
}

/** Location in BigQuery's message "Already Exists: Job project:location.id". */
function locationIn(error: unknown, jobId: string): string | undefined {
  const [before = ""] = (error as Error).message.split(`.${jobId}`);
  return /Already Exists: Job .*:([\w-]+)$/.exec(before)?.[1];
}

function asHidden(error: unknown): JobPage {
  if (error instanceof ApiError && error.kind === "denied") return { references: [], next: undefined };
  throw error;
}

async function mapError<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw googleError(error);
  }
}
