/** Watchers that wait for a notification. */
export class Waiters {
  readonly #waiting = new Set<() => void>();

  get size(): number {
    return this.#waiting.size;
  }

  /** Registers a callback for the next notification; the result unregisters it. */
  add(wake: () => void): () => void {
    this.#waiting.add(wake);
    return () => this.#waiting.delete(wake);
  }

  /**
   * Notifies all waiting watchers in batches: thousands of messages at once would delay every other
   * call.
   */
  wake(): void {
    const all = [...this.#waiting];
    this.#waiting.clear();
    const some = (from: number): void => {
      for (const wake of all.slice(from, from + WAKES_PER_TICK)) wake();
      if (from + WAKES_PER_TICK < all.length) setImmediate(some, from + WAKES_PER_TICK);
    };
    some(0);
  }
}

const WAKES_PER_TICK = 100;
