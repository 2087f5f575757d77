import type { ExecutionJson } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { readTimeMs } from "../../../format/time.js";
import type { ExecutionState } from "../../../node-table/wire/read-execution.js";

/** Names of flyteidl.core.WorkflowExecution.Phase by their numbers. */
export const PHASE_NAMES = [
  "UNDEFINED",
  "QUEUED",
  "RUNNING",
  "SUCCEEDING",
  "SUCCEEDED",
  "FAILING",
  "FAILED",
  "ABORTED",
  "TIMED_OUT",
  "ABORTING",
] as const;

/**
 * Reports whether the state of the stream is newer than the one that the page has read. Two events
 * may have the same time: then the phase tells.
 */
export function isNewer(reported: ExecutionState | undefined, read: ExecutionJson | undefined): boolean {
  const readMs = readTimeMs(read?.closure?.updatedAt);
  if (readMs === undefined) return true;
  const reportedMs = reported?.updatedAtMs ?? 0;
  if (reportedMs !== readMs) return reportedMs > readMs;
  return PHASE_NAMES[reported?.phase ?? 0] !== (read?.closure?.phase ?? "UNDEFINED");
}
