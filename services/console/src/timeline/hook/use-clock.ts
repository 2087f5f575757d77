import { useEffect, useState } from "react";

/** Interval at which what runs grows on the screen. */
const TICK_MS = 250;

export interface ExecutionClock {
  /** Creation of the execution, milliseconds of the epoch; undefined until it is known. */
  readonly createdAtMs: number | undefined;
  readonly hasEnded: boolean;
  /** Time of the last event, milliseconds since the creation. */
  readonly lastMs: number;
  /** Time of the server less that of the browser. */
  readonly clockSkewMs: number;
}

/** Returns the milliseconds since the creation of an execution; the last event's after its end. */
export function useClock({ createdAtMs, hasEnded, lastMs, clockSkewMs }: ExecutionClock): number {
  const [now, setNow] = useState(0);
  const isRunning = !hasEnded && createdAtMs !== undefined;
  useEffect(() => {
    if (!isRunning) return;
    const tick = (): void => setNow(Date.now());
    tick();
    const timer = setInterval(tick, TICK_MS);
    return () => clearInterval(timer);
  }, [isRunning]);
  return isRunning ? Math.max(now + clockSkewMs - createdAtMs, lastMs) : lastMs;
}
