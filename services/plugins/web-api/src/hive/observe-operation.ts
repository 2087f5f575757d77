import { PermanentFailure, RetryableFailure } from "@flyte-ts/task-plugin";
import type { ApiError } from "../frame/call/api-error.js";
import { externalResource } from "../frame/details.js";
import type { JobDetails, Observation } from "../frame/observation.js";
import type { Reading } from "../frame/web-api.js";
import type { OperationStatus } from "./hive-client.js";
import { errorCode, type HiveError, isErrorOfStatement } from "./hive-errors.js";
import { handleId, type HiveJob } from "./hive-job.js";

/** HiveServer2's names of states, as those of all APIs. */
const SHOWN_STATES: Partial<Record<OperationStatus["state"], string>> = {
  INITIALIZED: "PENDING",
  CANCELED: "CANCELLED",
  ERROR: "FAILED",
  TIMEDOUT: "FAILED",
};

/** Classes of SQLSTATE for errors of the server: resources, intervention, system. */
const OF_SERVER = /^5[378]/;

/** Maps an answer of GetOperationStatus. */
export function observeOperation(job: HiveJob, { state, error }: OperationStatus): Observation {
  const details = hiveDetails(job, SHOWN_STATES[state] ?? state);
  switch (state) {
    case "FINISHED":
      return { state: "SUCCEEDED", details };
    case "ERROR":
      return { state: "FAILED", details, failure: statementFailure(error) };
    case "CANCELED":
    case "CLOSED": {
      const message = error.message || `the statement was ${state === "CLOSED" ? "closed" : "canceled"} in HiveServer2`;
      return { state: "FAILED", details, stopped: true, failure: new RetryableFailure({ code: "ABORTED", kind: "USER", message }) };
    }
    case "TIMEDOUT": {
      const message = error.message || "the statement exceeded HiveServer2's time limit of queries";
      return { state: "FAILED", details, failure: new RetryableFailure({ code: "TIMEDOUT", kind: "USER", message }) };
    }
    case "INITIALIZED":
    case "PENDING":
      return { state: "QUEUED", reason: `Statement ${job.step + 1} of ${job.steps} is ${state}`, details };
    default:
      return { state: "RUNNING", reason: `Statement ${job.step + 1} of ${job.steps} is ${state}`, details };
  }
}

/** Failure of a job whose statement was started without a record of its handle. */
export function statementLost(job: HiveJob): Observation {
  const message = `statement ${job.step + 1} was started, and its answer was lost; its session was closed, which stopped it`;
  const failure = new RetryableFailure({ code: "HiveStatementLost", kind: "SYSTEM", message });
  return { state: "FAILED", details: hiveDetails(job, "FAILED"), failure };
}

/** Failure of a job one of whose statements the server does not start. */
export function refusedStatement(job: HiveJob, { code, message }: ApiError): Observation {
  return { state: "FAILED", details: hiveDetails(job, "FAILED"), failure: new PermanentFailure({ code, message }) };
}

/** Reading of a job between two statements, or of a statement that has just been started. */
export function stepProgress(job: HiveJob): Reading<HiveJob> {
  const reason = `Statement ${job.step + 1} of ${job.steps} is started`;
  return { kind: "observed", observation: { state: "RUNNING", reason, details: hiveDetails(job, "RUNNING") }, job };
}

/** Failure of an ended statement, by its SQLSTATE. */
function statementFailure(error: HiveError): PermanentFailure | RetryableFailure {
  const details = { code: errorCode(error), message: error.message || "HiveServer2 gives no reason" };
  if (isErrorOfStatement(error)) return new PermanentFailure(details);
  return new RetryableFailure({ ...details, kind: OF_SERVER.test(error.sqlState) ? "SYSTEM" : "USER" });
}

function hiveDetails({ operation, session }: HiveJob, state: string): JobDetails {
  return { externalResources: [externalResource({ id: handleId(operation || session), state })] };
}
