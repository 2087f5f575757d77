interface Lane<T> {
  items: T[];
  /** Index of the first item not taken. */
  next: number;
}

/** Queues by name, served round-robin: each keeps its order, and a long one does not delay the others. */
export class Lanes<T> {
  readonly #lanes = new Map<string, Lane<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(name: string, item: T): void {
    const lane = this.#lanes.get(name);
    if (lane === undefined) this.#lanes.set(name, { items: [item], next: 0 });
    else lane.items.push(item);
    this.#size++;
  }

  /** Puts items in front of the lane. */
  unshift(name: string, items: readonly T[]): void {
    if (items.length === 0) return;
    const lane = this.#lanes.get(name);
    const rest = lane === undefined ? [] : lane.items.slice(lane.next);
    this.#lanes.set(name, { items: [...items, ...rest], next: 0 });
    this.#size += items.length;
  }

  /** Returns the item that `take` would return. */
  peek(): T | undefined {
    for (const { items, next } of this.#lanes.values()) return items[next];
    return undefined;
  }

  /** Removes the first item of the next lane. */
  take(): T | undefined {
    for (const [name, lane] of this.#lanes) {
      const item = lane.items[lane.next++];
      this.#size--;
      if (this.#lanes.size === 1 && lane.next < lane.items.length) return item;
      this.#lanes.delete(name);
      if (lane.next < lane.items.length) this.#lanes.set(name, lane);
      return item;
    }
    return undefined;
  }
}
