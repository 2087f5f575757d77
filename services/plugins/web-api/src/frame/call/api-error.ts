/**
 * Cause of a failed call. `unavailable` and `throttled` are temporary; `invalid` and `denied` are
 * permanent; `missing`: the job does not exist.
 */
export type ApiErrorCause = "unavailable" | "throttled" | "invalid" | "denied" | "missing";

export interface ApiErrorOptions {
  /** Name of the error, such as `AccessDeniedException`; becomes the code of the failure. */
  readonly code: string;
  readonly message: string;
  /** Delay that the API requested, ms. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** A call of a web API failed. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: string;
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly kind: ApiErrorCause,
    { code, message, retryAfterMs, cause }: ApiErrorOptions,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }

  /** True when the same call may succeed later. */
  get passes(): boolean {
    return this.kind === "unavailable" || this.kind === "throttled";
  }
}

/** Classifies an HTTP status of an answer that is no success. */
export function causeOfStatus(status: number): ApiErrorCause {
  if (status === 404 || status === 410) return "missing";
  if (status === 429) return "throttled";
  if (status === 408 || status >= 500) return "unavailable";
  return status === 401 || status === 403 ? "denied" : "invalid";
}

/** Reads a Retry-After header in seconds; undefined for other forms. */
export function retryAfterMs(header: string | null | undefined): number | undefined {
  const seconds = header === null || header === undefined || header === "" ? Number.NaN : Number(header);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : undefined;
}
