import type { Time } from "./time.js";

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly action: () => void;
}

/** A clock with timers that only `advance` moves. */
export class ManualTime implements Time {
  readonly #startMs: number;
  #nowMs: number;
  #order = 0;
  readonly #timers = new Set<Timer>();

  constructor(start: Date = new Date("2026-01-02T03:04:05Z")) {
    this.#startMs = start.getTime();
    this.#nowMs = this.#startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  elapsed(): number {
    return this.#nowMs - this.#startMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason);
        return;
      }
      const abort = () => {
        cancel();
        reject(signal?.reason);
      };
      const cancel = this.schedule(ms, () => {
        signal?.removeEventListener("abort", abort);
        resolve();
      });
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  schedule(delayMs: number, action: () => void): () => void {
    const timer = { at: this.#nowMs + Math.max(0, delayMs), order: this.#order++, action };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Number of pending timers. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Advances the clock and runs due timers in order; promises settle in between. */
  async advance(ms: number): Promise<void> {
    const end = this.#nowMs + ms;
    for (;;) {
      await settlePromises();
      const next = [...this.#timers].filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at || a.order - b.order)[0];
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.at);
      next.action();
    }
    this.#nowMs = end;
    await settlePromises();
  }
}

/** Resolves once all code that waits only for promises has run. */
export async function settlePromises(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
}
