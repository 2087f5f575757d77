/** Latency of a call that counts as fast in any case, ms. */
const FAST_MS = 100;
/** A call is slow when it takes longer than this multiple of the lowest latency. */
const SLOW_FACTOR = 2;
const MIN_LIMIT = 4;
const INITIAL_LIMIT = 8;
/** The limit is reduced at most to this share at once. */
const MAX_REDUCTION = 0.5;
/** Time after which the lowest latency is measured anew, ms. */
const WINDOW_MS = 300_000;

export interface ConcurrencyLimitOptions {
  readonly max: number;
  /** Monotonic clock, ms. */
  readonly now: () => number;
}

/**
 * Limits concurrent calls to the number that a server handles at once. Calls beyond it would only
 * wait in the server, in order of arrival, where a scheduler of the caller has no influence. The
 * limit follows the latency as in congestion control (TCP Vegas): it grows while calls are fast, by
 * one a call until the first slow one and then by one a round, and falls with slow ones. It is 4 to
 * `max`.
 */
export class ConcurrencyLimit {
  #limit: number;
  #inFlight = 0;
  #hasBeenSlow = false;
  #reducedAt = Number.NEGATIVE_INFINITY;
  #lowest = Number.POSITIVE_INFINITY;
  #lowestBefore = Number.POSITIVE_INFINITY;
  #windowEnd: number;

  constructor(private readonly options: ConcurrencyLimitOptions) {
    this.#limit = Math.min(INITIAL_LIMIT, options.max);
    this.#windowEnd = options.now() + WINDOW_MS;
  }

  /** Maximum of concurrent calls at present. */
  get current(): number {
    return Math.floor(this.#limit);
  }

  /** Runs a call and measures its latency; errors that come fast are not measured. */
  async measure<T>(call: () => Promise<T>): Promise<T> {
    const startedAt = this.options.now();
    const isLimited = ++this.#inFlight >= this.current;
    try {
      const result = await call();
      this.#updateLowest(this.options.now() - startedAt);
      if (isLimited) this.#growIfFast(startedAt);
      return result;
    } finally {
      this.#inFlight--;
      this.#reduceIfSlow(startedAt);
    }
  }

  get #slowMs(): number {
    const lowest = Math.min(this.#lowest, this.#lowestBefore);
    return Number.isFinite(lowest) ? Math.max(FAST_MS, SLOW_FACTOR * lowest) : FAST_MS;
  }

  #updateLowest(latencyMs: number): void {
    if (this.options.now() >= this.#windowEnd) {
      this.#windowEnd = this.options.now() + WINDOW_MS;
      this.#lowestBefore = this.#lowest;
      this.#lowest = Number.POSITIVE_INFINITY;
    }
    this.#lowest = Math.min(this.#lowest, latencyMs);
  }

  #growIfFast(startedAt: number): void {
    if (this.options.now() - startedAt > this.#slowMs) return;
    this.#limit = Math.min(this.options.max, this.#limit + (this.#hasBeenSlow ? 1 / this.#limit : 1));
  }

  /** Calls started before the last reduction belong to the limit before it. */
  #reduceIfSlow(startedAt: number): void {
    const now = this.options.now();
    const share = this.#slowMs / (now - startedAt);
    if (share >= 1 || startedAt < this.#reducedAt) return;
    this.#hasBeenSlow = true;
    this.#reducedAt = now;
    this.#limit = Math.max(Math.min(MIN_LIMIT, this.options.max), this.#limit * Math.max(MAX_REDUCTION, share));
  }
}
