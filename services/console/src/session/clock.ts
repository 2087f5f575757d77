/** The server's time: that of this machine, corrected by the server's answers. */
export interface Clock {
  /** Milliseconds of the epoch. */
  now(): number;
  /** Takes the `Date` of an answer that was received now. */
  observe(serverDate: string | null): void;
  /** Calls a listener each second, while the page is visible. Returns its end. */
  subscribe(listener: () => void): () => void;
}

const TICK_MS = 1_000;
/** `Date` has whole seconds: smaller differences say nothing. */
const PRECISION_MS = 2_000;

export function createClock(machineNow: () => number = Date.now): Clock {
  const listeners = new Set<() => void>();
  let [offsetMs, timer]: [number, ReturnType<typeof setInterval> | undefined] = [0, undefined];
  const tick = (): void => {
    if (!document.hidden) for (const listener of listeners) listener();
  };
  return {
    now: () => machineNow() + offsetMs,
    observe(serverDate) {
      const serverMs = Date.parse(serverDate ?? "");
      if (Number.isNaN(serverMs)) return;
      const difference = serverMs - machineNow();
      if (Math.abs(difference - offsetMs) > PRECISION_MS) offsetMs = Math.abs(difference) > PRECISION_MS ? difference : 0;
    },
    subscribe(listener) {
      listeners.add(listener);
      timer ??= setInterval(tick, TICK_MS);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
  };
}
