/** LRU cache bounded by total weight: evicts the least recently used entries first. */
export class LruCache<Value extends object> {
  readonly #kept = new Map<string, { readonly value: Value; readonly weight: number }>();
  #weight = 0;

  constructor(private readonly most: number) {}

  get(key: string): Value | undefined {
    const known = this.#kept.get(key);
    if (known === undefined) return undefined;
    // Marks the entry as most recently used.
    this.#kept.delete(key);
    this.#kept.set(key, known);
    return known.value;
  }

  /** Ignores values heavier than the whole cache and keys that a concurrent reader has already set. */
  setIfAbsent(key: string, value: Value, weight: number): void {
    if (weight > this.most || this.#kept.has(key)) return;
    this.#kept.set(key, { value, weight });
    this.#weight += weight;
    for (const [oldest, dropped] of this.#kept) {
      if (this.#weight <= this.most) break;
      this.#kept.delete(oldest);
      this.#weight -= dropped.weight;
    }
  }
}
