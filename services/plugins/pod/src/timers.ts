import type { Timers } from "@flyte-ts/kubernetes";
import type { Clock } from "@flyte-ts/task-plugin";

/** Adapts the clock to work queues. */
export function clockTimers(clock: Clock): Timers {
  const callOffs = new WeakMap<object, () => void>();
  return {
    now: () => clock.now().getTime(),
    setTimeout: (run, ms) => {
      const timer = {};
      callOffs.set(timer, clock.after(ms, run));
      return timer;
    },
    clearTimeout: (timer) => callOffs.get(timer as object)?.(),
  };
}
