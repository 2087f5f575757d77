interface NamedQueue<T> {
  items: T[];
  /** Index of the first item not dequeued. */
  next: number;
}

/**
 * Queues by name, served round-robin: each keeps its order, and a long one does not delay the
 * others.
 */
export class FairQueue<T> {
  readonly #queues = new Map<string, NamedQueue<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(name: string, item: T): void {
    const queue = this.#queues.get(name);
    if (queue === undefined) this.#queues.set(name, { items: [item], next: 0 });
    else queue.items.push(item);
    this.#size++;
  }

  /** Puts items in front of the queue of that name. */
  unshift(name: string, items: readonly T[]): void {
    if (items.length === 0) return;
    const queue = this.#queues.get(name);
    const rest = queue === undefined ? [] : queue.items.slice(queue.next);
    this.#queues.set(name, { items: [...items, ...rest], next: 0 });
    this.#size += items.length;
  }

  /** Returns the item that `dequeue` would return. */
  peek(): T | undefined {
    for (const { items, next } of this.#queues.values()) return items[next];
    return undefined;
  }

  /** Removes the first item of the next queue. */
  dequeue(): T | undefined {
    for (const [name, queue] of this.#queues) {
      const item = queue.items[queue.next++];
      this.#size--;
      if (this.#queues.size === 1 && queue.next < queue.items.length) return item;
      this.#queues.delete(name);
      if (queue.next < queue.items.length) this.#queues.set(name, queue);
      return item;
    }
    return undefined;
  }
}
