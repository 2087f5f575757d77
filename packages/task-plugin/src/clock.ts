/** Time, passed in so that tests and simulations own it. */
export interface Clock {
  now(): Date;
  /** Runs `action` once after `delayMs`; the returned function calls it off. */
  after(delayMs: number, action: () => void): () => void;
}

// setTimeout fires at once for delays that do not fit into 31 bits.
const LONGEST_TIMER_MS = 2_147_483_647;

/** The machine's clock. Its timers do not keep the process alive. */
export function systemClock(): Clock {
  return {
    now: () => new Date(),
    after: (delayMs, action) => {
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
