/** Lets so many through in a second, and no more than that at once. */
export class RateLimit {
  #free: number;
  #at: number | undefined;

  constructor(private readonly perSecond: number) {
    this.#free = Math.max(perSecond, 1);
  }

  /** 0 when one may go now, which is then counted; otherwise the ms until one may. `now` is in ms. */
  take(now: number): number {
    const passed = Math.max(now - (this.#at ?? now), 0);
    this.#at = now;
    this.#free = Math.min(this.#free + (passed / 1000) * this.perSecond, Math.max(this.perSecond, 1));
    if (this.#free >= 1) {
      this.#free--;
      return 0;
    }
    return Math.max(Math.ceil(((1 - this.#free) / this.perSecond) * 1000), 1);
  }
}
