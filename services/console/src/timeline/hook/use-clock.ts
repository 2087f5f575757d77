import { useEffect, useState } from "react";

/** Intervals at which what runs grows on the screen: durations show seconds. */
const MIN_STEP_MS = 500;
const MAX_STEP_MS = 1_000;
/** Growth that is seen as such. */
const STEP_PX = 2;

/** Returns the interval at which bars grow by some pixels, in multiples of the shortest one. */
export function clockStepMs(msPerPx: number): number {
  const stepMs = Math.floor((msPerPx * STEP_PX) / MIN_STEP_MS) * MIN_STEP_MS;
  return Math.min(Math.max(stepMs, MIN_STEP_MS), MAX_STEP_MS);
}

export interface ExecutionClock {
  /** Creation of the execution, milliseconds of the epoch; undefined until it is known. */
  readonly createdAtMs: number | undefined;
  readonly hasEnded: boolean;
  /** Time of the last event, milliseconds since the creation. */
  readonly lastMs: number;
  /** Time of the server less that of the browser. */
  readonly clockSkewMs: number;
  /** Interval between two times, see {@link clockStepMs}. */
  readonly stepMs: number;
}

/** Returns the milliseconds since the creation of an execution; the last event's after its end. */
export function useClock({ createdAtMs, hasEnded, lastMs, clockSkewMs, stepMs }: ExecutionClock): number {
  const [now, setNow] = useState(0);
  const isRunning = !hasEnded && createdAtMs !== undefined;
  useEffect(() => {
    if (!isRunning) return;
    const tick = (): void => setNow(Date.now());
    tick();
    const timer = setInterval(() => !document.hidden && tick(), stepMs);
    return () => clearInterval(timer);
  }, [isRunning, stepMs]);
  return isRunning ? Math.max(now + clockSkewMs - createdAtMs, lastMs) : lastMs;
}
