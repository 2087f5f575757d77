import { type Backoff, backoffDelay, BoundedMap } from "@flyte-ts/async";

/**
 * Maximum of redeliveries of an event whose parent row is missing: with the delays below, two to
 * three minutes.
 */
const MAX_ATTEMPTS = 22;
const DELAYS: Backoff = { initialMs: 50, maxMs: 10_000 };
/** Maximum of counted events; the one that was counted longest ago is evicted. */
const CAPACITY = 100_000;

/**
 * Counts redeliveries per event. The bus's own count is no measure, since it also grows during
 * database outages.
 */
export class RedeliveryBackoff {
  readonly #attempts = new BoundedMap<string, number>(CAPACITY);

  /** Returns the delay before the next redelivery, ms; undefined after the last one. */
  nextDelayMs(key: string): number | undefined {
    const waits = (this.#attempts.get(key) ?? 0) + 1;
    if (waits > MAX_ATTEMPTS) {
      this.#attempts.delete(key);
      return undefined;
    }
    this.#attempts.set(key, waits);
    return backoffDelay(DELAYS, waits - 1);
  }

  /** Number of redeliveries. */
  attempts(key: string): number {
    return this.#attempts.get(key) ?? 0;
  }

  /** Removes the count of a stored event. */
  reset(key: string): void {
    this.#attempts.delete(key);
  }

  /** True when no event is waiting. */
  get isEmpty(): boolean {
    return this.#attempts.size === 0;
  }
}
