import { Heap } from "@flyte-ts/heap";

interface Entry<T> {
  readonly at: number;
  readonly subject: T;
}

/**
 * When to look at what again. A subject that is put off keeps its old entry and is
 * looked at too early once, which costs less than finding the entry.
 */
export class TimerHeap<T extends object> {
  readonly #heap = new Heap<Entry<T>>((a, b) => a.at < b.at);
  readonly #earliest = new Map<T, number>();

  /** Earliest time, ms, at which something may be due. */
  get next(): number | undefined {
    return this.#heap.peek()?.at;
  }

  /** Asks for a look at `subject` at `at` or before. */
  set(subject: T, at: number): void {
    const earliest = this.#earliest.get(subject);
    if (earliest !== undefined && earliest <= at) return;
    this.#earliest.set(subject, at);
    this.#heap.push({ at, subject });
  }

  drop(subject: T): void {
    this.#earliest.delete(subject);
  }

  /** Takes out what is due at `now`, each subject once; what is set meanwhile comes with the next call. */
  takeDue(now: number): T[] {
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
