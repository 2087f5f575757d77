/** Tries after which what waits for something that is still not there is given up: with the delays below, after two to three minutes. */
const MAX_WAITS = 22;
const MAX_DELAY_MS = 10_000;
const CAPACITY = 100_000;

/**
 * Counts how often each event has waited here. (How often the bus has delivered it says
 * less: it delivers again, too, while the database is away.)
 */
export class Patience {
  readonly #waits = new Map<string, number>();

  /** How long to wait now, ms; undefined: it has waited long enough. */
  wait(key: string): number | undefined {
    const waits = (this.#waits.get(key) ?? 0) + 1;
    if (waits > MAX_WAITS) {
      this.#waits.delete(key);
      return undefined;
    }
    this.#waits.set(key, waits);
    if (this.#waits.size > CAPACITY) this.#waits.clear();
    return Math.min(50 * 2 ** (waits - 1), MAX_DELAY_MS);
  }

  /** How often it has waited. */
  waited(key: string): number {
    return this.#waits.get(key) ?? 0;
  }

  /** What it waited for has come. */
  done(key: string): void {
    this.#waits.delete(key);
  }

  /** Whether anything waits at all. */
  get idle(): boolean {
    return this.#waits.size === 0;
  }
}
