import type { Clock } from "./scheduler.js";

/** The system clock. */
export const systemClock: Clock = {
  now: Date.now,
  elapsed: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, Math.max(ms, 0));
    return () => clearTimeout(timer);
  },
};
