import type { Time } from "./scheduler.js";

/** The system clock. */
export const systemClock: Time = {
  now: Date.now,
  elapsed: () => performance.now(),
  schedule(ms, callback) {
    const timer = setTimeout(callback, Math.max(ms, 0));
    return () => clearTimeout(timer);
  },
};
