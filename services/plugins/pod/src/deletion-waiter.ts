import type { Time } from "@flyte-ts/async";

/** Waits for pods to be deleted. */
export class DeletionWaiter {
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(private readonly clock: Time) {}

  /** Reports that the pod of this key is gone. */
  onDeleted(key: string): void {
    for (const notify of this.#waiting.get(key) ?? []) notify();
  }

  /** Registers before waiting; `waitFor` resolves to true when the pod has gone. */
  watch(key: string): { waitFor(ms: number): Promise<boolean>; cancel(): void } {
    let deleted = false;
    let notify: () => void = () => undefined;
    const listener = () => {
      deleted = true;
      notify();
    };
    const listeners = this.#waiting.get(key) ?? new Set();
    listeners.add(listener);
    this.#waiting.set(key, listeners);
    return {
      waitFor: async (ms) => {
        if (deleted) return true;
        await new Promise<void>((resolve) => {
          const cancelTimer = this.clock.schedule(ms, resolve);
          notify = () => {
            cancelTimer();
            resolve();
          };
        });
        return deleted;
      },
      cancel: () => {
        listeners.delete(listener);
        if (listeners.size === 0) this.#waiting.delete(key);
      },
    };
  }
}
