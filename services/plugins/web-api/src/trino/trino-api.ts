import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { BlobReader } from "@flyte-ts/input-limits";
import type { Failed, Succeeded } from "@flyte-ts/task-plugin";
import { ApiError } from "../frame/call/api-error.js";
import { ignoreMissing } from "../frame/call/ignore-missing.js";
import type { EndedObservation } from "../frame/observation.js";
import type { CreateOptions, Reading, WebApi } from "../frame/web-api.js";
import { attemptHash } from "../task/attempt-identity.js";
import { readInputs } from "../task/inputs.js";
import { queryTask } from "../task/query-task.js";
import { templateRenderer } from "../task/render.js";
import { declaresResults, resultOutputs } from "../task/result-outputs.js";
import { observeAnswer, observeState } from "./observe-answer.js";
import { createTableStatement, dropTableStatement, resultTable, type ResultTableSettings } from "./result-table.js";
import { pathOf, type TrinoAnswer, type TrinoClient } from "./trino-client.js";
import { type TrinoJob, trinoJob } from "./trino-job.js";

export interface TrinoDeps {
  readonly client: TrinoClient;
  readonly blobs: BlobReader;
  readonly settings: ResultTableSettings & { readonly defaultCatalog: string };
}

/** Maximum number of pages that one reading follows; their rows are discarded. */
const MAX_PAGES = 100;

/**
 * Runs queries of `presto` tasks in Trino. A statement is submitted, recorded in the plugin state,
 * and runs only from the first reading on, so that a lost response cannot start it twice. Trino
 * serves each answer once, so the path of the next answer is recorded as well.
 */
export class TrinoApi implements WebApi<TrinoJob> {
  readonly id = "trino";
  readonly pluginIdentifier = "presto";
  readonly maxBatch = 1;
  readonly stopsBeforeRead = true;

  constructor(private readonly deps: TrinoDeps) {}

  parseJob(value: unknown): TrinoJob | undefined {
    return trinoJob.safeParse(value).data;
  }

  async prepare(request: TaskRequest): Promise<(options: CreateOptions) => Promise<TrinoJob>> {
    const { client, blobs, settings } = this.deps;
    const render = templateRenderer(request, await readInputs(request, blobs));
    const { statement, database, catalog } = queryTask(request.template, render);
    const table = declaresResults(request) ? resultTable(request, settings) : "";
    const session = { catalog: catalog || settings.defaultCatalog, schema: database, source: sourceOf(request) };
    const text = table === "" ? statement : createTableStatement(table, statement, request.rawOutputPrefix);
    return async ({ mayExist }) => {
      const existing = mayExist ? await this.find(request) : undefined;
      if (existing !== undefined) return existing;
      const { id: queryId, nextUri, error } = await client.submit(text, session);
      if (nextUri === undefined)
        throw new ApiError("invalid", { code: error?.errorName ?? "TRINO_ERROR", message: error?.message ?? "Trino names no nextUri" });
      return { queryId, next: pathOf(nextUri), table };
    };
  }

  /** Looks for a query of the attempt that runs without a record of its answers. */
  async find(request: TaskRequest): Promise<TrinoJob | undefined> {
    const queryId = await this.deps.client.findBySource(sourceOf(request)).catch((error: unknown) => {
      // Access rules may hide the list of queries.
      if (error instanceof ApiError && (error.kind === "denied" || error.kind === "missing")) return undefined;
      throw error;
    });
    const table = declaresResults(request) ? resultTable(request, this.deps.settings) : "";
    return queryId === undefined ? undefined : { queryId, next: "", table };
  }

  async read(jobs: readonly TrinoJob[]): Promise<readonly Reading<TrinoJob>[]> {
    return Promise.all(
      jobs.map(async (job): Promise<Reading<TrinoJob>> => {
        try {
          return await this.#follow(job);
        } catch (error) {
          if (error instanceof ApiError) return { kind: "failed", error };
          throw error;
        }
      }),
    );
  }

  async stop({ next, queryId }: TrinoJob): Promise<void> {
    const { client } = this.deps;
    const isStopped = next !== "" && (await ignoreMissing(() => client.cancel(next)));
    if (!isStopped) await ignoreMissing(() => client.kill(queryId));
  }

  /** Drops the table; the result files remain. A repeated call may drop it again. */
  async complete(request: TaskRequest, job: TrinoJob, observation: EndedObservation): Promise<Succeeded | Failed> {
    const { details } = observation;
    if (job.table !== "") await this.#drop(job.table, request);
    if (observation.state === "FAILED") return { phase: "FAILED", failure: observation.failure, ...details };
    const outputs = resultOutputs(request, request.rawOutputPrefix, "parquet");
    return { phase: "SUCCEEDED", ...details, ...(outputs && { outputs }) };
  }

  async #follow(job: TrinoJob): Promise<Reading<TrinoJob>> {
    let current = job;
    for (let page = 0; current.next !== ""; page++) {
      const answer = await this.#answerOf(current);
      // The recorded answer is gone when a process ended between a reading and its record.
      if (answer === undefined) return this.#state({ ...job, next: "" });
      if (answer.nextUri !== undefined) current = { ...current, next: pathOf(answer.nextUri) };
      const more = answer.nextUri !== undefined && answer.data !== undefined && page < MAX_PAGES;
      if (!more) return { kind: "observed", observation: observeAnswer(answer), job: current };
    }
    return this.#state(job);
  }

  async #answerOf({ next }: TrinoJob): Promise<TrinoAnswer | undefined> {
    try {
      return await this.deps.client.follow(next);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** Trino stops a query whose answers are not read, after its `query.client.timeout`. */
  async #state(job: TrinoJob): Promise<Reading<TrinoJob>> {
    return { kind: "observed", observation: observeState(job.queryId, await this.deps.client.state(job.queryId)), job };
  }

  async #drop(table: string, request: TaskRequest): Promise<void> {
    const { client, settings } = this.deps;
    const session = { catalog: settings.resultCatalog, schema: settings.resultSchema, source: `${sourceOf(request)}/drop` };
    let answer = await client.submit(dropTableStatement(table), session);
    for (let page = 0; answer.nextUri !== undefined && page < MAX_PAGES; page++) answer = await client.follow(pathOf(answer.nextUri));
    if (answer.error !== undefined && answer.error.errorType !== "USER_ERROR")
      throw new ApiError("unavailable", { code: answer.error.errorName ?? "TRINO_ERROR", message: answer.error.message });
  }
}

/** Returns the name of the attempt in Trino's list of queries. */
function sourceOf(request: TaskRequest): string {
  return `flyte/${request.generatedName}/${attemptHash(request).slice(0, 16)}`;
}

function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.kind === "missing";
}
