interface Entry<V> {
  readonly value: V;
  readonly weight: number;
}

/** A cache bounded by total weight; evicts the least recently used entries first. */
export class LruCache<V extends object> {
  readonly #entries = new Map<string, Entry<V>>();
  #weight = 0;

  /** @param maxWeight maximum of the sum of weights, in the caller's unit */
  constructor(private readonly maxWeight: number) {}

  /** Sum of the weights of all entries. */
  get weight(): number {
    return this.#weight;
  }

  /** Returns the value and marks it as most recently used. */
  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /**
   * Adds a value unless the key is present, as after a concurrent load, or the value is heavier
   * than the whole cache.
   */
  setIfAbsent(key: string, value: V, weight: number): void {
    if (weight > this.maxWeight || this.#entries.has(key)) return;
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    for (const [oldest, evicted] of this.#entries) {
      if (this.#weight <= this.maxWeight) break;
      this.#entries.delete(oldest);
      this.#weight -= evicted.weight;
    }
  }
}
