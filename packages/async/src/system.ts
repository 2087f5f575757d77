import { setTimeout as sleep } from "node:timers/promises";
import type { Time } from "./time.js";

/** Maximum delay of `setTimeout`, which runs the action at once beyond 31 bits. */
const MAX_TIMER_MS = 2_147_483_647;

/** The system clock and its timers. */
export const systemTime: Time = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, signal === undefined ? undefined : { signal }),
  schedule: (delayMs, action) => {
    let timer = startTimer(Math.max(0, delayMs));
    function startTimer(remainingMs: number): NodeJS.Timeout {
      const stepMs = Math.min(remainingMs, MAX_TIMER_MS);
      const next = setTimeout(() => {
        if (remainingMs > stepMs) timer = startTimer(remainingMs - stepMs);
        else action();
      }, stepMs);
      return next.unref();
    }
    return () => clearTimeout(timer);
  },
};

/** Returns a number in [0, 1). */
export const systemRandom = (): number => Math.random();
