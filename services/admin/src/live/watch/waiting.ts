/** Watchers that wait for news. */
export class Waiting {
  readonly #waiting = new Set<() => void>();

  get size(): number {
    return this.#waiting.size;
  }

  /** Called once, at the next news; what is returned takes it back. */
  add(wake: () => void): () => void {
    this.#waiting.add(wake);
    return () => this.#waiting.delete(wake);
  }

  /** Wakes all who wait now, some at a time: thousands of messages at once would hold up every other call. */
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
