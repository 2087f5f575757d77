import type { QueryExecution, QueryExecutionStatus } from "@aws-sdk/client-athena";
import { RetryableFailure } from "@flyte-ts/task-plugin";
import { consoleHost } from "../aws/client-config.js";
import type { JobDetails, Observation } from "../frame/observation.js";
import { externalResource, link } from "../frame/details.js";

/** ErrorCategory of failures that Athena itself caused. */
const SYSTEM_ERROR = 1;

/** Maps an answer of GetQueryExecution. */
export function observeQuery(execution: QueryExecution, region: string): Observation {
  const { Status: status, ResultConfiguration: result } = execution;
  const reason = status?.StateChangeReason ?? "";
  const details = queryDetails(execution, region);
  switch (status?.State) {
    case "SUCCEEDED":
      return { state: "SUCCEEDED", details, ...(result?.OutputLocation && { resultUri: result.OutputLocation }) };
    case "FAILED":
      return { state: "FAILED", details, failure: queryFailure("FAILED", status, reason) };
    case "CANCELLED":
      return { state: "FAILED", details, failure: queryFailure("ABORTED", status, reason), stopped: true };
    default:
      // A query in Athena's own queue counts as running, as in Go Flyte.
      return { state: "RUNNING", reason: `Query is ${status?.State ?? "submitted"}`, details };
  }
}

function queryFailure(code: string, status: QueryExecutionStatus, reason: string): RetryableFailure {
  const kind = status.AthenaError?.ErrorCategory === SYSTEM_ERROR ? "SYSTEM" : "USER";
  return new RetryableFailure({ code, kind, message: reason || status.AthenaError?.ErrorMessage || `the query is ${code}` });
}

function queryDetails({ QueryExecutionId: id = "", Status: status }: QueryExecution, region: string): JobDetails {
  const uri = `https://${region}.${consoleHost(region)}/athena/home?force&region=${region}#query/history/${id}`;
  const logs = [link("Athena Query Console", uri)];
  return { logs, externalResources: [externalResource({ id, state: status?.State })] };
}
