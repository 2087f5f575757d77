/** Items by the time at which they are to be looked at; each stands in it once at most. */
export class DueQueue<T> {
  readonly #at = new Map<T, number>();
  // A binary heap. An item that was set again or deleted stays in it until it is on top.
  readonly #heap: { readonly at: number; readonly item: T }[] = [];

  /** Puts an item at a time, whether it was there before or not. */
  set(item: T, at: number): void {
    this.#at.set(item, at);
    const heap = this.#heap;
    const entry = { at, item };
    let i = heap.length;
    heap.push(entry);
    while (i > 0) {
      const parent = (i - 1) >> 1;
      const above = heap[parent] as { at: number; item: T };
      if (above.at <= at) break;
      heap[i] = above;
      i = parent;
    }
    heap[i] = entry;
  }

  delete(item: T): void {
    this.#at.delete(item);
  }

  /** Time of the first item. */
  first(): number | undefined {
    return this.#top()?.at;
  }

  /** Takes the first item out when its time has come. */
  take(now: number): T | undefined {
    const top = this.#top();
    if (top === undefined || top.at > now) return undefined;
    this.#pop();
    this.#at.delete(top.item);
    return top.item;
  }

  #top(): { at: number; item: T } | undefined {
    for (;;) {
      const top = this.#heap[0];
      if (top === undefined || this.#at.get(top.item) === top.at) return top;
      this.#pop();
    }
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && (heap[child + 1] as { at: number }).at < (heap[child] as { at: number }).at) child++;
      const below = heap[child] as { at: number; item: T };
      if (below.at >= last.at) break;
      heap[i] = below;
      i = child;
    }
    heap[i] = last;
  }
}
