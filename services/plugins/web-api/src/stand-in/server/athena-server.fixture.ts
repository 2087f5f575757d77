import type { IncomingMessage } from "node:http";
import type { DatabaseSync } from "node:sqlite";
import type { ListQueryExecutionsInput, QueryExecutionState, StartQueryExecutionInput } from "@aws-sdk/client-athena";
import { Semaphore } from "@flyte-ts/async";
import { type Answer, type Call, HttpStandIn } from "./http-stand-in.fixture.js";
import { AthenaTables, QueryError } from "./athena-query.fixture.js";

export interface ExecutedQuery {
  readonly id: string;
  readonly input: StartQueryExecutionInput;
  state: QueryExecutionState;
  reason?: string;
}

export interface AthenaServerOptions {
  /** Stores the file of a query's results. */
  readonly write: (uri: string, bytes: Uint8Array) => Promise<unknown>;
  /** Number of queries at a time. */
  readonly slots?: number;
}

/** An error that Athena answers. */
class Refused extends Error {}

const PAGE = 50;

/** Speaks Athena's protocol over HTTP and executes queries in SQLite, with a CSV of their rows. */
export class AthenaServer extends HttpStandIn {
  readonly queries: ExecutedQuery[] = [];
  /** Queries do not run until it resolves. */
  gate: Promise<unknown> = Promise.resolve();
  readonly #tables = new AthenaTables();
  readonly #slots: Semaphore;

  constructor(private readonly options: AthenaServerOptions) {
    super();
    this.#slots = new Semaphore(options.slots ?? 20);
  }

  /** Tables of the schema `db`, for the queries of a test. */
  get database(): DatabaseSync {
    return this.#tables.database;
  }

  get running(): number {
    return this.queries.filter(isOpen).length;
  }

  protected override operationOf({ headers }: IncomingMessage): string {
    return String(headers["x-amz-target"]).replace("AmazonAthena.", "");
  }

  protected override answer({ operation, input }: Call): Answer {
    try {
      return { body: this.#answer(operation, input as never) };
    } catch (error) {
      if (error instanceof Refused) return athenaRefusal("InvalidRequestException", 400, error.message);
      throw error;
    }
  }

  #answer(
    operation: string,
    input: StartQueryExecutionInput & ListQueryExecutionsInput & { QueryExecutionId: string; QueryExecutionIds: string[] },
  ): object {
    switch (operation) {
      case "StartQueryExecution":
        return { QueryExecutionId: this.#start(input).id };
      case "GetQueryExecution":
        return { QueryExecution: describeQuery(this.#find(input.QueryExecutionId)) };
      case "BatchGetQueryExecution":
        return this.#describeAll(input.QueryExecutionIds);
      case "ListQueryExecutions":
        return this.#list(input);
      case "StopQueryExecution": {
        const query = this.#find(input.QueryExecutionId);
        if (isOpen(query)) Object.assign(query, { state: "CANCELLED", reason: "Query was cancelled by user" });
        return {};
      }
      default:
        throw new Refused(`no such operation: ${operation}`);
    }
  }

  /** A token that is used again returns the first query, and must come with the same input. */
  #start(input: StartQueryExecutionInput): ExecutedQuery {
    const { ClientRequestToken: token = "", WorkGroup } = input;
    if (token.length < 32 || token.length > 128) throw new Refused("ClientRequestToken must have 32 to 128 characters");
    if (WorkGroup !== "primary") throw new Refused(`WorkGroup ${WorkGroup} is not found.`);
    const known = this.queries.find((query) => query.input.ClientRequestToken === token);
    if (known !== undefined) {
      if (JSON.stringify(known.input) !== JSON.stringify(input)) throw new Refused("Idempotent parameters do not match");
      return known;
    }
    const id = `00000000-0000-4000-8000-${String(this.queries.length).padStart(12, "0")}`;
    const query: ExecutedQuery = { id, input, state: "QUEUED" };
    this.queries.push(query);
    void this.#slots.run(() => this.#run(query));
    return query;
  }

  async #run(query: ExecutedQuery): Promise<void> {
    if (!isOpen(query)) return;
    query.state = "RUNNING";
    await this.gate;
    if (!isOpen(query)) return;
    const { QueryString = "", QueryExecutionContext } = query.input;
    try {
      const csv = this.#tables.run(QueryString, QueryExecutionContext?.Database ?? "default");
      await this.options.write(resultUri(query), csv);
      if (isOpen(query)) query.state = "SUCCEEDED";
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      Object.assign(query, { state: "FAILED", reason: error.message });
    }
  }

  #find(id: string): ExecutedQuery {
    const query = this.queries.find((one) => one.id === id);
    if (query === undefined) throw new Refused(`QueryExecution ${id} was not found`);
    return query;
  }

  #describeAll(ids: readonly string[]): object {
    if (ids.length > PAGE) throw new Refused(`at most ${PAGE} queries can be read`);
    const known = this.queries.filter(({ id }) => ids.includes(id));
    const unknown = ids.filter((id) => known.every((query) => query.id !== id));
    return {
      QueryExecutions: known.map(describeQuery),
      UnprocessedQueryExecutionIds: unknown.map((id) => ({
        QueryExecutionId: id,
        ErrorCode: "INVALID_QUERY_EXECUTION_ID",
        ErrorMessage: `QueryExecution ${id} was not found`,
      })),
    };
  }

  #list({ MaxResults = PAGE, NextToken = "0" }: ListQueryExecutionsInput): object {
    const start = Number(NextToken);
    const ids = this.queries.map(({ id }) => id).reverse();
    const end = start + MaxResults;
    return { QueryExecutionIds: ids.slice(start, end), ...(end < ids.length && { NextToken: String(end) }) };
  }
}

function isOpen({ state }: ExecutedQuery): boolean {
  return state === "QUEUED" || state === "RUNNING";
}

function resultUri({ id, input }: ExecutedQuery): string {
  return `${input.ResultConfiguration?.OutputLocation}/${id}.csv`;
}

/** ErrorCategory 2: the user's. */
function describeQuery(query: ExecutedQuery): object {
  const { id, input, state, reason } = query;
  return {
    QueryExecutionId: id,
    Query: input.QueryString,
    WorkGroup: input.WorkGroup,
    ResultConfiguration: { OutputLocation: resultUri(query) },
    Status: {
      State: state,
      ...(reason !== undefined && { StateChangeReason: reason }),
      ...(state === "FAILED" && { AthenaError: { ErrorCategory: 2, Retryable: false, ErrorMessage: reason } }),
    },
  };
}

/** An error as AWS's JSON protocol answers it. */
export function athenaRefusal(type: string, status = 400, message = type): Answer {
  return { status, body: { __type: type, message } };
}
