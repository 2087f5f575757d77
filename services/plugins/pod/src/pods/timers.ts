import type { Timers } from "@flyte-ts/kubernetes";
import type { Time } from "@flyte-ts/task-plugin";

/** Adapts the clock to work queues. */
export function clockTimers(clock: Time): Timers {
  const callOffs = new WeakMap<object, () => void>();
  return {
    now: () => clock.now().getTime(),
    setTimeout: (run, ms) => {
      const timer = {};
      callOffs.set(timer, clock.schedule(ms, run));
      return timer;
    },
    clearTimeout: (timer) => callOffs.get(timer as object)?.(),
  };
}
