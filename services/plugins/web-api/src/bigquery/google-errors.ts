import { ApiError, causeOfStatus } from "../frame/call/api-error.js";

interface GoogleError {
  readonly code?: number | string;
  readonly message?: string;
  readonly errors?: readonly { readonly reason?: string; readonly message?: string }[];
}

/** Reasons of status 403 that are temporary. */
const RATE_REASONS = new Set(["rateLimitExceeded", "quotaExceeded", "userRateLimitExceeded", "jobRateLimitExceeded"]);

/** Status of an error of Google's client; undefined when the connection or the login failed. */
export function googleStatus(error: unknown): number | undefined {
  const code = Number((error as GoogleError | null)?.code);
  return Number.isInteger(code) && code >= 100 ? code : undefined;
}

/** Classifies an error of Google's client; its code is `http<status>`. */
export function googleError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const status = googleStatus(error);
  if (status === undefined) return new ApiError("unavailable", { code: "ConnectionFailed", message, cause: error });
  const isRate = (error as GoogleError).errors?.some(({ reason }) => RATE_REASONS.has(reason ?? "")) === true;
  return new ApiError(isRate ? "throttled" : causeOfStatus(status), { code: `http${status}`, message, cause: error });
}
