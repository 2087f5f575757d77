import { BigQuery } from "@google-cloud/bigquery";
import type { JsonObject } from "@bufbuild/protobuf";
import { BoundedMap } from "@flyte-ts/async";
import { type AuthClient, PassThroughClient } from "google-auth-library";
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

/** The calls of BigQuery, each through the endpoint. @throws ApiError */
export class BigQueryCalls {
  readonly #clients = new BoundedMap<string, BigQuery>(MAX_PROJECTS);

  constructor(
    private readonly access: BigQueryAccess,
    private readonly endpoint: Endpoint,
  ) {}

  /** Inserts a job; `exists` when there is one of that id. */
  insert({ project, location, jobId }: BigQueryJob, configuration: JsonObject): Promise<"inserted" | "exists"> {
    const options = { jobId, configuration, ...(location !== "" && { location }) };
    return this.endpoint.write("jobs.insert", async () => {
      try {
        await this.#client(project).createJob(options);
        return "inserted";
      } catch (error) {
        if (googleStatus(error) === 409) return "exists";
        // The client throws the errors of a job that was inserted and failed at once.
        if (wasInserted(error)) return "inserted";
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

function wasInserted(error: unknown): boolean {
  const { response } = error as { readonly response?: { readonly jobReference?: unknown } };
  return response?.jobReference !== undefined;
}

async function mapError<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw googleError(error);
  }
}
