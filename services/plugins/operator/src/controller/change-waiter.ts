import type { Time } from "@flyte-ts/async";

/** Lets callers wait for the next change of a key. */
export class ChangeWaiter {
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(private readonly clock: Time) {}

  /** Reports a change. */
  notify(key: string): void {
    for (const wake of this.#waiting.get(key) ?? []) wake();
  }

  /** Resolves at the next change of the key, or after `ms`. */
  async wait(key: string, ms: number): Promise<void> {
    const waiters = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, waiters);
    await new Promise<void>((resolve) => {
      const cancelTimer = this.clock.schedule(ms, () => wake());
      const wake = () => {
        cancelTimer();
        waiters.delete(wake);
        if (waiters.size === 0) this.#waiting.delete(key);
        resolve();
      };
      waiters.add(wake);
    });
  }
}
