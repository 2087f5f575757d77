/** Injected so that tests and simulations own the time. */
export interface Timers {
  now(): number;
  setTimeout(run: () => void, ms: number): { unref?(): void };
  clearTimeout(timer: unknown): void;
}

export const systemTimers: Timers = {
  now: () => Date.now(),
  setTimeout: (run, ms) => setTimeout(run, ms),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

/**
 * A queue of keys, first in first out. A key waits in it at most once; a key that
 * is being worked on and is added again comes back when its worker is done, so
 * that two workers never have one key.
 */
export class WorkQueue {
  readonly #waiting = new Map<string, number>();
  readonly #working = new Set<string>();
  readonly #again = new Set<string>();
  readonly #later = new Map<string, { at: number; timer: unknown }>();
  readonly #takers: ((key: string | undefined) => void)[] = [];
  #closed = false;

  constructor(private readonly timers: Timers = systemTimers) {}

  /** Keys that wait for a worker. */
  get depth(): number {
    return this.#waiting.size;
  }

  /** How long the first key has waited, ms. */
  get latencyMs(): number {
    const first = this.#waiting.values().next();
    return first.done ? 0 : this.timers.now() - first.value;
  }

  add(key: string): void {
    if (this.#closed) return;
    if (this.#working.has(key)) {
      this.#again.add(key);
      return;
    }
    if (this.#waiting.has(key)) return;
    const taker = this.#takers.shift();
    if (taker !== undefined) {
      this.#working.add(key);
      taker(key);
    } else this.#waiting.set(key, this.timers.now());
  }

  /** Adds the key at the time (ms since the epoch); of several times the earliest counts. */
  addAt(key: string, at: number): void {
    if (this.#closed) return;
    const known = this.#later.get(key);
    if (known !== undefined) {
      if (known.at <= at) return;
      this.timers.clearTimeout(known.timer);
    }
    // Node's timers overflow beyond 2^31 ms; a key that wakes too early just asks again.
    const delay = Math.min(Math.max(at - this.timers.now(), 0), 2_000_000_000);
    const timer = this.timers.setTimeout(() => {
      this.#later.delete(key);
      this.add(key);
    }, delay);
    this.#later.set(key, { at, timer });
  }

  /** Drops the timer of a key. */
  forget(key: string): void {
    const known = this.#later.get(key);
    if (known === undefined) return;
    this.timers.clearTimeout(known.timer);
    this.#later.delete(key);
  }

  /** The next key, or undefined when the queue is closed. The taker must call `done`. */
  take(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    const next = this.#waiting.keys().next();
    if (next.done) return new Promise((resolve) => this.#takers.push(resolve));
    this.#waiting.delete(next.value);
    this.#working.add(next.value);
    return Promise.resolve(next.value);
  }

  done(key: string): void {
    this.#working.delete(key);
    if (this.#again.delete(key)) this.add(key);
  }

  close(): void {
    this.#closed = true;
    for (const { timer } of this.#later.values()) this.timers.clearTimeout(timer);
    this.#later.clear();
    this.#waiting.clear();
    for (const taker of this.#takers.splice(0)) taker(undefined);
  }
}
