import { PermanentFailure, RetryableFailure } from "@flyte-ts/task-plugin";
import { externalResource, link } from "../frame/details.js";
import type { JobDetails, Observation } from "../frame/observation.js";
import type { TrinoAnswer } from "./trino-client.js";

/** Names of errors that a request to stop causes. */
const STOPPED = new Set(["USER_CANCELED", "ADMINISTRATIVELY_KILLED"]);

/** Maps an answer of Trino's statement protocol: an error, a further answer, or the end. */
export function observeAnswer({ id, error, nextUri, stats, infoUri }: TrinoAnswer): Observation {
  const details = trinoDetails(id, error ? "FAILED" : stats?.state, infoUri);
  if (error !== undefined) return { state: "FAILED", details, failure: trinoFailure(error), stopped: STOPPED.has(error.errorName ?? "") };
  if (nextUri === undefined) return { state: "SUCCEEDED", details };
  const queued = ["QUEUED", "WAITING_FOR_RESOURCES", "DISPATCHING", "PLANNING"].includes(stats?.state ?? "QUEUED");
  return { state: queued ? "QUEUED" : "RUNNING", reason: `Query is ${stats?.state ?? "QUEUED"}`, details };
}

/** Maps the state of a query whose answers cannot be read. */
export function observeState(id: string, state: string): Observation {
  const details = trinoDetails(id, state, undefined);
  const reason = `Query is ${state}; its answers were lost in a restart`;
  if (state === "FINISHED") return { state: "SUCCEEDED", details };
  if (state !== "FAILED") return { state: "RUNNING", reason, details };
  const failure = new RetryableFailure({
    code: "TrinoAnswerLost",
    kind: "SYSTEM",
    message: `Trino query ${id} failed, and its answers were lost in a restart`,
  });
  return { state: "FAILED", details, failure };
}

/**
 * Converts an error of Trino. The user's errors are permanent, since the same query fails again;
 * all others are retryable.
 */
function trinoFailure({ message, errorName, errorType }: NonNullable<TrinoAnswer["error"]>): PermanentFailure | RetryableFailure {
  const details = { code: errorName ?? "TRINO_ERROR", message };
  if (STOPPED.has(details.code)) return new RetryableFailure({ ...details, kind: "USER" });
  return errorType === "USER_ERROR" ? new PermanentFailure(details) : new RetryableFailure({ ...details, kind: "SYSTEM" });
}

function trinoDetails(id: string, state: string | undefined, infoUri: string | undefined): JobDetails {
  const logs = infoUri === undefined ? {} : { logs: [link("Trino Query", infoUri)] };
  return { ...logs, externalResources: [externalResource({ id, state })] };
}
