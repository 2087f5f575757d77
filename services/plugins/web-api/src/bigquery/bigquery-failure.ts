import { PermanentFailure, RetryableFailure } from "@flyte-ts/task-plugin";

export interface BigQueryError {
  readonly reason?: string | null | undefined;
  readonly message?: string | null | undefined;
  readonly location?: string | null | undefined;
}

/** Reasons for which another attempt fails too. Source: the BigQuery plugin of Flyte 1.16. */
const PERMANENT_USER = new Set([
  "accessDenied",
  "billingNotEnabled",
  "blocked",
  "duplicate",
  "invalid",
  "invalidQuery",
  "notFound",
  "notImplemented",
  "resourcesExceeded",
  "responseTooLarge",
  "stopped",
  "timeout",
]);
const RETRYABLE_USER = new Set(["quotaExceeded", "rateLimitExceeded"]);
const RETRYABLE_SYSTEM = new Set(["backendError", "internalError", "invalidUser", "resourceInUse", "tableUnavailable"]);

/** Maps the error of an ended job by its reason; the reason is the failure's code. */
export function bigQueryFailure({ reason, message }: BigQueryError): PermanentFailure | RetryableFailure {
  const code = reason || "unknown";
  const details = { code, message: message || code };
  if (RETRYABLE_USER.has(code)) return new RetryableFailure({ ...details, kind: "USER" });
  if (RETRYABLE_SYSTEM.has(code)) return new RetryableFailure({ ...details, kind: "SYSTEM" });
  return new PermanentFailure({ ...details, kind: PERMANENT_USER.has(code) ? "USER" : "SYSTEM" });
}
