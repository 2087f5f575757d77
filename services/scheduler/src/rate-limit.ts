/** A rate limiter; the permits of one second may be saved up. */
export class TokenBucket {
  readonly #intervalMs: number;
  readonly #burstMs: number;
  #last = Number.NEGATIVE_INFINITY;

  constructor(perSecond: number) {
    this.#intervalMs = 1000 / perSecond;
    this.#burstMs = Math.max(perSecond, 1) * this.#intervalMs;
  }

  /** Reserves the next permit and returns the delay until it, ms. `now` is in ms and monotonic. */
  reserve(now: number): number {
    this.#last = Math.max(this.#last, now - this.#burstMs) + this.#intervalMs;
    return Math.max(this.#last - now, 0);
  }
}
