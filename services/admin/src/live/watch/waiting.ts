/** Watchers that wait for a notification. */
export class Waiting {
  readonly #waiting = new Set<() => void>();

  get size(): number {
    return this.#waiting.size;
  }

  /** Registers a callback for the next notification; the result unregisters it. */
  add(wake: () => void): () => void {
    this.#waiting.add(wake);
    return () => this.#waiting.delete(wake);
  }

  /** Notifies all waiting watchers in batches: thousands of messages at once would delay every other call. */
  wake(): void {
    const all = [...this.#waiting];
    this.#waiting.clear();
    const some = (from: number): void => {
      for (const wake of all.slice(from, from + AT_ONCE)) wake();
      if (from + AT_ONCE < all.length) setImmediate(some, from + AT_ONCE);
    };
    some(0);
  }
}

const AT_ONCE = 100;
