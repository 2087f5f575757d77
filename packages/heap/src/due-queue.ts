import { Heap } from "./heap.js";

interface Entry<T> {
  readonly at: number;
  readonly item: T;
}

/** Items by the time at which they are to be looked at; each stands in it once at most. */
export class DueQueue<T> {
  readonly #at = new Map<T, number>();
  // An item that was set again or deleted stays in it until it is on top.
  readonly #heap = new Heap<Entry<T>>((a, b) => a.at < b.at);

  /** Puts an item at a time, whether it was there before or not. */
  set(item: T, at: number): void {
    this.#at.set(item, at);
    this.#heap.push({ at, item });
  }

  /** Whether it was there. */
  delete(item: T): boolean {
    return this.#at.delete(item);
  }

  /** Time of the first item. */
  first(): number | undefined {
    return this.#top()?.at;
  }

  /** Takes the first item out when its time has come. */
  take(now: number): T | undefined {
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
