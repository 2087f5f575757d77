export interface TokenBucketOptions {
  /** Maximum number of saved permits; the bucket starts with them. */
  readonly burst: number;
  /** Time in which one permit is added, ms. */
  readonly intervalMs: number;
}

/** Tolerance for rounding errors of fractional intervals, ms. */
const ROUNDING_MS = 1e-6;

/**
 * A rate limiter that permits `burst` operations at once and then one every `intervalMs`. Times are
 * ms of one clock.
 */
export class TokenBucket {
  readonly #intervalMs: number;
  readonly #maxSavedMs: number;
  /**
   * Saved permits, in ms of their intervals: whole numbers stay exact. Negative while permits are
   * reserved.
   */
  #savedMs: number;
  #updatedAt = Number.NEGATIVE_INFINITY;

  constructor({ burst, intervalMs }: TokenBucketOptions) {
    this.#intervalMs = intervalMs;
    this.#maxSavedMs = burst * intervalMs;
    this.#savedMs = this.#maxSavedMs;
  }

  /** Takes a permit; false when there is none, for callers that drop the operation. */
  take(now: number): boolean {
    this.#refill(now);
    if (this.#savedMs < this.#intervalMs - ROUNDING_MS) return false;
    this.#savedMs -= this.#intervalMs;
    return true;
  }

  /** Reserves the next permit and returns the delay until it, ms, for callers that wait. */
  reserve(now: number): number {
    this.#refill(now);
    this.#savedMs -= this.#intervalMs;
    return Math.max(0, -this.#savedMs);
  }

  /** A clock that was set back adds nothing. */
  #refill(now: number): void {
    this.#savedMs = Math.min(this.#maxSavedMs, this.#savedMs + Math.max(0, now - this.#updatedAt));
    this.#updatedAt = now;
  }
}
