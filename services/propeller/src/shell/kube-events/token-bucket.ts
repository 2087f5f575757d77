/** Admits a burst of `burst`, then one every `intervalMs`. */
export class TokenBucket {
  #tokens: number;
  #at: number;

  constructor(
    private readonly burst: number,
    private readonly intervalMs: number,
    now: number,
  ) {
    this.#tokens = burst;
    this.#at = now;
  }

  take(now: number): boolean {
    this.#tokens = Math.min(this.burst, this.#tokens + Math.max(0, now - this.#at) / this.intervalMs);
    this.#at = now;
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }
}
