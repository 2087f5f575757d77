import type { Progress } from "./status.js";

export interface RetryLaterOptions {
  /** Status shown to the user until the retry. */
  readonly status?: Progress;
  /** Delay before the next try, ms; default: a growing delay with jitter. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/**
 * The request cannot be handled now, but the attempt has not failed: the quota is exhausted,
 * Kubernetes does not answer. The request is retried later.
 */
export class RetryLater extends Error {
  override readonly name = "RetryLater";
  readonly status: Progress | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { status, retryAfterMs, cause }: RetryLaterOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}
