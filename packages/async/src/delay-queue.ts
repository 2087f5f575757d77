import { BinaryHeap } from "./binary-heap.js";

interface Entry<T> {
  readonly at: number;
  readonly item: T;
}

/** A priority queue of items by due time, without duplicates. */
export class DelayQueue<T> {
  readonly #at = new Map<T, number>();
  // An outdated entry of an item stays until it reaches the top.
  readonly #heap = new BinaryHeap<Entry<T>>((a, b) => a.at < b.at);

  /** Adds an item or changes its due time. */
  set(item: T, at: number): void {
    this.#at.set(item, at);
    this.#heap.push({ at, item });
  }

  /** Removes an item; true when it was queued. */
  delete(item: T): boolean {
    return this.#at.delete(item);
  }

  /** Due time of the first item. */
  nextDueAt(): number | undefined {
    return this.#top()?.at;
  }

  /** Removes the first item if it is due. */
  popDue(now: number): T | undefined {
    const top = this.#top();
    if (top === undefined || top.at > now) return undefined;
    this.#heap.pop();
    this.#at.delete(top.item);
    return top.item;
  }

  #top(): Entry<T> | undefined {
    for (let top = this.#heap.peek(); top !== undefined; top = this.#heap.peek()) {
      if (this.#at.get(top.item) === top.at) return top;
      this.#heap.pop();
    }
    return undefined;
  }
}
