import type { StartQueryExecutionInput } from "@aws-sdk/client-athena";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { attemptHash } from "../task/attempt-identity.js";
import type { QueryTask } from "../task/query-task.js";

export interface AthenaDefaults {
  /** Workgroup of tasks that name none. */
  readonly defaultWorkGroup: string;
  /** Data catalog of tasks that name none. */
  readonly defaultCatalog: string;
}

/** Builds the call that starts a query. */
export function startQueryInput(request: TaskRequest, task: QueryTask, defaults: AthenaDefaults): StartQueryExecutionInput {
  return {
    ClientRequestToken: clientRequestToken(request),
    QueryString: task.statement,
    QueryExecutionContext: { Database: task.database, Catalog: task.catalog || defaults.defaultCatalog },
    ResultConfiguration: { OutputLocation: request.rawOutputPrefix },
    WorkGroup: task.workGroup || defaults.defaultWorkGroup,
  };
}

/** Token with which Athena recognises a repeated call, 32 to 128 characters. */
export function clientRequestToken(request: TaskRequest): string {
  return `${request.generatedName}-${attemptHash(request)}`.slice(0, 128);
}
