import { BinaryHeap } from "@flyte-ts/async";

interface Entry {
  readonly at: number;
  readonly order: number;
  readonly action: () => void;
}

/** Simulated time: it stands still during an action, and jumps to the next one. */
export class Schedule {
  now = Date.parse("2026-11-21T10:00:00Z");
  readonly start = this.now;
  steps = 0;
  #order = 0;
  readonly #heap = new BinaryHeap<Entry>((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order));

  after(delayMs: number, action: () => void): void {
    this.#heap.push({ at: this.now + Math.max(0, delayMs), order: this.#order++, action });
  }

  get elapsed(): number {
    return this.now - this.start;
  }

  /** Runs the next action. Returns false when none is left or `until` is reached. */
  step(until: number): boolean {
    const next = this.#heap.peek();
    if (next === undefined || next.at > until) return false;
    this.#heap.pop();
    this.now = next.at;
    this.steps++;
    next.action();
    return true;
  }
}
