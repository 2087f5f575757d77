import { BinaryHeap } from "@flyte-ts/async/collections";

interface Entry<T> {
  readonly at: number;
  readonly subject: T;
}

/**
 * Timers by subject. A postponed subject keeps its old entry and fires early once, which costs less
 * than finding the entry.
 */
export class TimerHeap<T extends object> {
  readonly #heap = new BinaryHeap<Entry<T>>((a, b) => a.at < b.at);
  readonly #earliest = new Map<T, number>();

  /** Earliest time at which a timer may be due, ms. */
  get next(): number | undefined {
    return this.#heap.peek()?.at;
  }

  /** Schedules `subject` for `at` or earlier. */
  schedule(subject: T, at: number): void {
    const earliest = this.#earliest.get(subject);
    if (earliest !== undefined && earliest <= at) return;
    this.#earliest.set(subject, at);
    this.#heap.push({ at, subject });
  }

  cancel(subject: T): void {
    this.#earliest.delete(subject);
  }

  /**
   * Removes and returns the subjects due at `now`, each once; timers set meanwhile are returned by
   * the next call.
   */
  popDue(now: number): T[] {
    const due: T[] = [];
    for (let top = this.#heap.peek(); top !== undefined && top.at <= now; top = this.#heap.peek()) {
      this.#heap.pop();
      if (this.#earliest.get(top.subject) !== top.at) continue;
      this.#earliest.delete(top.subject);
      due.push(top.subject);
    }
    return due;
  }
}
