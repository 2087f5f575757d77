import { type Backoff, backoffDelay, BoundedMap } from "@flyte-ts/async";

/** Maximum of redeliveries of an event whose parent row is missing: with the delays below, two to three minutes. */
const MAX_WAITS = 22;
const DELAYS: Backoff = { initialMs: 50, maxMs: 10_000 };
/** Maximum of counted events; the one that was counted longest ago is evicted. */
const CAPACITY = 100_000;

/** Counts redeliveries per event. The bus's own count is no measure, since it also grows during database outages. */
export class Patience {
  readonly #waits = new BoundedMap<string, number>(CAPACITY);

  /** Returns the delay before the next redelivery, ms; undefined after the last one. */
  wait(key: string): number | undefined {
    const waits = (this.#waits.get(key) ?? 0) + 1;
    if (waits > MAX_WAITS) {
      this.#waits.delete(key);
      return undefined;
    }
    this.#waits.set(key, waits);
    return backoffDelay(DELAYS, waits - 1);
  }

  /** Number of redeliveries. */
  waited(key: string): number {
    return this.#waits.get(key) ?? 0;
  }

  /** Removes the count of a stored event. */
  done(key: string): void {
    this.#waits.delete(key);
  }

  /** True when no event is waiting. */
  get idle(): boolean {
    return this.#waits.size === 0;
  }
}
