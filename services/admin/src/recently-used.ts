/** Keeps what was asked for lately. Each has a weight; above the most that all may weigh, the one that nobody asked for longest goes first. */
export class RecentlyUsed<Value extends object> {
  readonly #kept = new Map<string, { readonly value: Value; readonly weight: number }>();
  #weight = 0;

  constructor(private readonly most: number) {}

  get(key: string): Value | undefined {
    const known = this.#kept.get(key);
    if (known === undefined) return undefined;
    // To the end of the queue.
    this.#kept.delete(key);
    this.#kept.set(key, known);
    return known.value;
  }

  /** Not kept: what is heavier than all may be, and what somebody who read it at the same time has brought before. */
  keep(key: string, value: Value, weight: number): void {
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
