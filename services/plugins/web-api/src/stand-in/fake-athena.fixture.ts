import {
  type AthenaClient,
  BatchGetQueryExecutionCommand,
  GetQueryExecutionCommand,
  ListQueryExecutionsCommand,
  type QueryExecution,
  type QueryExecutionState,
  StartQueryExecutionCommand,
  type StartQueryExecutionInput,
  StopQueryExecutionCommand,
} from "@aws-sdk/client-athena";
import { awsSdkError, Faults } from "./faults.fixture.js";

interface Query {
  readonly id: string;
  readonly input: StartQueryExecutionInput;
  state: QueryExecutionState;
  reason?: string;
}

/** Athena in memory, idempotent by token. Queries run until the test ends them. */
export class FakeAthena {
  readonly queries: Query[] = [];
  readonly faults = new Faults();
  readonly calls: string[] = [];
  readonly send = ((command: unknown) => this.faults.apply(() => this.#answer(command))) as unknown as AthenaClient["send"];

  finish(state: QueryExecutionState, reason?: string): void {
    for (const query of this.queries.filter(isOpen)) Object.assign(query, { state, reason });
  }

  startsOf(token: string): number {
    return this.queries.filter(({ input }) => input.ClientRequestToken === token).length;
  }

  get running(): number {
    return this.queries.filter(isOpen).length;
  }

  #answer(command: unknown): object {
    this.calls.push((command as object).constructor.name.replace("Command", ""));
    if (command instanceof StartQueryExecutionCommand) return { QueryExecutionId: this.#start(command.input).id };
    if (command instanceof GetQueryExecutionCommand) return { QueryExecution: this.#get(command.input.QueryExecutionId) };
    if (command instanceof BatchGetQueryExecutionCommand)
      return { QueryExecutions: command.input.QueryExecutionIds?.map((id) => this.#get(id)) };
    if (command instanceof ListQueryExecutionsCommand) return { QueryExecutionIds: this.queries.map(({ id }) => id).reverse() };
    if (command instanceof StopQueryExecutionCommand) {
      for (const query of this.queries) if (query.id === command.input.QueryExecutionId && isOpen(query)) query.state = "CANCELLED";
      return {};
    }
    throw new Error("not a command of Athena that the stand-in knows");
  }

  #start(input: StartQueryExecutionInput): Query {
    const known = this.queries.find((query) => query.input.ClientRequestToken === input.ClientRequestToken);
    if (known !== undefined) return known;
    const started: Query = { id: `query-${this.queries.length}`, input, state: "QUEUED" };
    this.queries.push(started);
    return started;
  }

  #get(id: string | undefined): QueryExecution {
    const query = this.queries.find((one) => one.id === id);
    if (query === undefined) throw awsSdkError("InvalidRequestException", 400, `QueryExecution ${id} was not found`);
    if (query.state === "QUEUED") query.state = "RUNNING";
    return {
      QueryExecutionId: query.id,
      Status: { State: query.state, ...(query.reason !== undefined && { StateChangeReason: query.reason }) },
      ResultConfiguration: { OutputLocation: `${query.input.ResultConfiguration?.OutputLocation}/${query.id}.csv` },
    };
  }
}

function isOpen({ state }: Query): boolean {
  return state === "QUEUED" || state === "RUNNING";
}
