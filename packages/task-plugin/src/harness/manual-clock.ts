import type { Time } from "../clock.js";

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly action: () => void;
}

/** A clock that only tests advance. */
export class ManualTime implements Time {
  #now: number;
  #order = 0;
  readonly #timers = new Set<Timer>();

  constructor(start: Date = new Date("2026-01-02T03:04:05Z")) {
    this.#now = start.getTime();
  }

  now(): Date {
    return new Date(this.#now);
  }

  schedule(delayMs: number, action: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, delayMs), order: this.#order++, action };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Number of pending timers. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Advances the clock and runs due timers in order, letting promises settle in between. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await settlePromises();
      const next = [...this.#timers].filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at || a.order - b.order)[0];
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.action();
    }
    this.#now = end;
    await settlePromises();
  }
}

/** Resolves once all code that waits only for promises has run. */
export async function settlePromises(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
}
