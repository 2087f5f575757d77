import type { Time } from "@flyte-ts/async";

/** Waits for pods to be deleted. */
export class Departures {
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(private readonly clock: Time) {}

  /** Reports that the pod of this key is gone. */
  tell(key: string): void {
    for (const wake of this.#waiting.get(key) ?? []) wake();
  }

  /** Registers before waiting; `within` resolves to true when the pod has gone. */
  expect(key: string): { within(ms: number): Promise<boolean>; cancel(): void } {
    let gone = false;
    let wake: () => void = () => undefined;
    const listener = () => {
      gone = true;
      wake();
    };
    const listeners = this.#waiting.get(key) ?? new Set();
    listeners.add(listener);
    this.#waiting.set(key, listeners);
    return {
      within: async (ms) => {
        if (gone) return true;
        await new Promise<void>((resolve) => {
          const callOff = this.clock.schedule(ms, resolve);
          wake = () => {
            callOff();
            resolve();
          };
        });
        return gone;
      },
      cancel: () => {
        listeners.delete(listener);
        if (listeners.size === 0) this.#waiting.delete(key);
      },
    };
  }
}
