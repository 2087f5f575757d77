import { systemTime, type Time } from "@flyte-ts/async";

/** A clock that runs faster than the system's, so that tests over HTTP wait for no pause. */
export function fastTime(factor: number): Time {
  const startMs = systemTime.now();
  return {
    now: () => startMs + (systemTime.now() - startMs) * factor,
    elapsed: () => systemTime.elapsed() * factor,
    sleep: (ms, signal) => systemTime.sleep(ms / factor, signal),
    schedule: (delayMs, action) => systemTime.schedule(delayMs / factor, action),
  };
}
