/** A clock, passed in so that tests and simulations control it. */
export interface Time {
  now(): Date;
  /** Runs `action` once after `delayMs`; the returned function cancels it. */
  schedule(delayMs: number, action: () => void): () => void;
}

// setTimeout fires at once for delays beyond 31 bits.
const LONGEST_TIMER_MS = 2_147_483_647;

/** The system clock. Its timers do not keep the process alive. */
export function systemClock(): Time {
  return {
    now: () => new Date(),
    schedule: (delayMs, action) => {
      let timer = arm(Math.max(0, delayMs), action);
      function arm(left: number, run: () => void): NodeJS.Timeout {
        const step = Math.min(left, LONGEST_TIMER_MS);
        const next = setTimeout(() => {
          if (left > step) timer = arm(left - step, run);
          else run();
        }, step);
        return next.unref();
      }
      return () => clearTimeout(timer);
    },
  };
}
