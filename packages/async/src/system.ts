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
    if (delayMs > MAX_TIMER_MS) return scheduleInSteps(delayMs, action);
    const timer = setTimeout(action, delayMs).unref();
    return () => clearTimeout(timer);
  },
};

function scheduleInSteps(delayMs: number, action: () => void): () => void {
  let cancel = systemTime.schedule(MAX_TIMER_MS, () => {
    cancel = systemTime.schedule(delayMs - MAX_TIMER_MS, action);
  });
  return () => cancel();
}

/** Returns a number in [0, 1). */
export const systemRandom = (): number => Math.random();
