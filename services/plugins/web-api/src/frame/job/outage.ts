import { type Backoff, backoffDelay } from "@flyte-ts/async";
import { BlobUnavailableError } from "@flyte-ts/blobstore";
import { PermanentFailure, RetryableFailure } from "@flyte-ts/task-plugin";
import { ApiError } from "../call/api-error.js";

const BACKOFF: Backoff = { initialMs: 1_000, maxMs: 60_000, jitter: 0.4 };

/** Returns the delay before the next try after failed ones in a row, ms. */
export function retryDelay(failures: number, error: unknown, random: () => number): number {
  const askedMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
  return Math.max(askedMs, backoffDelay(BACKOFF, failures, random));
}

/** Describes a temporary error for the attempt's reasons. */
export function outageReason(action: string, error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return `cannot ${action}, trying again: ${text}`;
}

/** True for temporary errors of the API or the blob store. */
export function passes(error: unknown): boolean {
  return error instanceof BlobUnavailableError || (error instanceof ApiError && error.passes);
}

/** Failure of an attempt whose API did not answer for too long; spends the system's budget. */
export function outageFailure(
  action: string,
  { sinceMs, nowMs, error }: { sinceMs: number; nowMs: number; error: unknown },
): RetryableFailure {
  const text = error instanceof Error ? error.message : String(error);
  const minutes = ((nowMs - sinceMs) / 60_000).toFixed(1);
  return new RetryableFailure({ code: "WebApiUnavailable", kind: "SYSTEM", message: `cannot ${action} for ${minutes} minutes: ${text}` });
}

/** Failure of an attempt whose request the API refuses. */
export function refusal(action: string, error: ApiError): PermanentFailure {
  return new PermanentFailure({ code: error.code, message: `cannot ${action}: ${error.message}` });
}

/** Failure of an attempt whose job no longer exists. */
export function jobIsMissing(api: string, error: ApiError): RetryableFailure {
  const message = `${api} no longer has the job of the attempt: ${error.message}`;
  return new RetryableFailure({ code: "ResourceDeletedExternally", kind: "SYSTEM", message });
}
