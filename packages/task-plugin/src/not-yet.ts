import type { Progress } from "./status.js";

export interface NotYetOptions {
  /** What the user sees meanwhile. */
  readonly status?: Progress;
  /** Wait before the next try, ms; by default a growing, jittered delay. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/**
 * The request cannot be carried out now, and the attempt has not failed: the quota is
 * used up, Kubernetes does not answer. The request is delivered again later.
 */
export class NotYet extends Error {
  override readonly name = "NotYet";
  readonly status: Progress | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { status, retryAfterMs, cause }: NotYetOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}
