import {
  type AthenaClient,
  BatchGetQueryExecutionCommand,
  GetQueryExecutionCommand,
  ListQueryExecutionsCommand,
  type QueryExecution,
  StartQueryExecutionCommand,
  StopQueryExecutionCommand,
  type UnprocessedQueryExecutionId,
} from "@aws-sdk/client-athena";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { BlobReader } from "@flyte-ts/input-limits";
import type { Failed, Succeeded } from "@flyte-ts/task-plugin";
import { callAws } from "../aws/aws-errors.js";
import { ApiError } from "../frame/call/api-error.js";
import type { Endpoint } from "../frame/call/endpoint.js";
import type { EndedObservation } from "../frame/observation.js";
import type { Reading, WebApi } from "../frame/web-api.js";
import { readInputs } from "../task/inputs.js";
import { queryTask } from "../task/query-task.js";
import { templateRenderer } from "../task/render.js";
import { resultOutputs } from "../task/result-outputs.js";
import { type AthenaJob, athenaJob } from "./athena-job.js";
import { observeQuery } from "./observe-query.js";
import { type AthenaDefaults, startQueryInput } from "./start-query.js";

export interface AthenaDeps {
  readonly client: Pick<AthenaClient, "send">;
  readonly endpoint: Endpoint;
  readonly blobs: BlobReader;
  readonly region: string;
  readonly defaults: AthenaDefaults;
}

/** Maximum number of ids of one BatchGetQueryExecution. */
const MAX_IDS = 50;
/** Pages of 50 queries, newest first, in which a query without a record is looked for. */
const MAX_FIND_PAGES = 4;

/** Runs queries of `presto` and `hive` tasks in Athena. */
export class AthenaApi implements WebApi<AthenaJob> {
  readonly id = "athena";
  readonly pluginIdentifier = "athena";
  readonly maxBatch = MAX_IDS;

  constructor(private readonly deps: AthenaDeps) {}

  parseJob(value: unknown): AthenaJob | undefined {
    return athenaJob.safeParse(value).data;
  }

  async prepare(request: TaskRequest): Promise<() => Promise<AthenaJob>> {
    const { client, endpoint, blobs, defaults } = this.deps;
    const render = templateRenderer(request, await readInputs(request, blobs));
    const input = startQueryInput(request, queryTask(request.template, render), defaults);
    // The token makes a repeated call return the query of the first call.
    return async () => {
      const send = (abortSignal: AbortSignal) => callAws(() => client.send(new StartQueryExecutionCommand(input), { abortSignal }));
      const { QueryExecutionId: queryId = "" } = await endpoint.write("StartQueryExecution", send);
      return { queryId };
    };
  }

  /** Looks for a query that writes to the attempt's own prefix among the newest ones. */
  async find(request: TaskRequest): Promise<AthenaJob | undefined> {
    const { rawOutputPrefix } = request;
    if (rawOutputPrefix === "") return undefined;
    const WorkGroup = queryTask(request.template, (text) => text).workGroup || this.deps.defaults.defaultWorkGroup;
    let NextToken: string | undefined;
    for (let page = 0; page < MAX_FIND_PAGES; page++) {
      const input = { WorkGroup, MaxResults: MAX_IDS, ...(NextToken !== undefined && { NextToken }) };
      const listed = await this.deps.endpoint.read("ListQueryExecutions", (abortSignal) =>
        callAws(() => this.deps.client.send(new ListQueryExecutionsCommand(input), { abortSignal })),
      );
      const { executions } = await this.#executions(listed.QueryExecutionIds ?? []);
      const found = executions.find(({ ResultConfiguration: result }) => result?.OutputLocation?.startsWith(rawOutputPrefix));
      if (found?.QueryExecutionId !== undefined) return { queryId: found.QueryExecutionId };
      NextToken = listed.NextToken;
      if (NextToken === undefined) return undefined;
    }
    return undefined;
  }

  async read(jobs: readonly AthenaJob[]): Promise<readonly Reading<AthenaJob>[]> {
    const { executions, errors } = await this.#executions(jobs.map(({ queryId }) => queryId));
    const byId = new Map(executions.map((execution) => [execution.QueryExecutionId, execution]));
    return jobs.map(({ queryId }) => {
      const execution = byId.get(queryId);
      if (execution === undefined) return { kind: "failed", error: errors.get(queryId) ?? missingQuery(queryId) };
      return { kind: "observed", observation: observeQuery(execution, this.deps.region) };
    });
  }

  async stop({ queryId }: AthenaJob): Promise<void> {
    await this.deps.endpoint.write("StopQueryExecution", (abortSignal) =>
      callAws(() => this.deps.client.send(new StopQueryExecutionCommand({ QueryExecutionId: queryId }), { abortSignal })),
    );
  }

  async complete(request: TaskRequest, _job: AthenaJob, observation: EndedObservation): Promise<Succeeded | Failed> {
    const { details } = observation;
    if (observation.state === "FAILED") return { phase: "FAILED", failure: observation.failure, ...details };
    const outputs = resultOutputs(request, observation.resultUri ?? request.rawOutputPrefix, "csv");
    return { phase: "SUCCEEDED", ...details, ...(outputs && { outputs }) };
  }

  async #executions(ids: readonly string[]): Promise<Executions> {
    const { client, endpoint } = this.deps;
    const [only] = ids;
    if (only === undefined) return { executions: [], errors: new Map() };
    if (ids.length > 1) {
      const input = { QueryExecutionIds: [...ids] };
      const answer = await endpoint.read("BatchGetQueryExecution", (abortSignal) =>
        callAws(() => client.send(new BatchGetQueryExecutionCommand(input), { abortSignal })),
      );
      return { executions: answer.QueryExecutions ?? [], errors: unprocessedErrors(answer.UnprocessedQueryExecutionIds ?? []) };
    }
    const { QueryExecution: execution } = await endpoint.read("GetQueryExecution", (abortSignal) =>
      callAws(() => client.send(new GetQueryExecutionCommand({ QueryExecutionId: only }), { abortSignal })).catch(asMissing),
    );
    return { executions: execution === undefined ? [] : [execution], errors: new Map() };
  }
}

interface Executions {
  readonly executions: readonly QueryExecution[];
  /** Errors of single ids of the call. */
  readonly errors: ReadonlyMap<string, ApiError>;
}

/** Athena reports an unknown query as an invalid request. */
function asMissing(error: unknown): never {
  if (error instanceof ApiError && error.kind === "invalid" && /not found/i.test(error.message))
    throw new ApiError("missing", { code: error.code, message: error.message, cause: error });
  throw error;
}

function unprocessedErrors(unprocessed: readonly UnprocessedQueryExecutionId[]): ReadonlyMap<string, ApiError> {
  return new Map(
    unprocessed.map(({ QueryExecutionId: id = "", ErrorCode: code = "Unprocessed", ErrorMessage: message = code }) => [
      id,
      new ApiError(/INTERNAL|THROTTL/i.test(code) ? "unavailable" : "missing", { code, message }),
    ]),
  );
}

function missingQuery(queryId: string): ApiError {
  return new ApiError("missing", { code: "QueryNotFound", message: `Athena does not know query ${queryId}` });
}
