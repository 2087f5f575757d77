/** Hands out moments, so many a second; what was not used for a second is there at once. */
export class RateLimit {
  readonly #intervalMs: number;
  readonly #burstMs: number;
  #last = Number.NEGATIVE_INFINITY;

  constructor(perSecond: number) {
    this.#intervalMs = 1000 / perSecond;
    this.#burstMs = Math.max(perSecond, 1) * this.#intervalMs;
  }

  /** Takes the next moment, and tells in how many ms it is. `now` is in ms and never goes back. */
  reserve(now: number): number {
    this.#last = Math.max(this.#last, now - this.#burstMs) + this.#intervalMs;
    return Math.max(this.#last - now, 0);
  }
}
