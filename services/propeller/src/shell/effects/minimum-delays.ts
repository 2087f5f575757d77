interface DelayWindow {
  /** Start of the current interval, ms. */
  startedAt: number;
  current: number;
  previous: number;
}

/**
 * Length of an interval, ms. The minimum delay covers the current and the previous interval, so
 * that it adapts to a service that became slower.
 */
const INTERVAL_MS = 60_000;

/** Tracks the minimum recent response time per task type, which excludes queueing. */
export class MinimumDelays {
  readonly #byType = new Map<string, DelayWindow>();

  /** Records a delay and returns the minimum, ms. */
  record(taskType: string, delayMs: number, now: number): number {
    const window = this.#byType.get(taskType);
    if (window === undefined) {
      this.#byType.set(taskType, { startedAt: now, current: delayMs, previous: delayMs });
      return delayMs;
    }
    if (now - window.startedAt >= INTERVAL_MS) {
      window.previous = window.current;
      window.current = delayMs;
      window.startedAt = now;
    } else if (delayMs < window.current) window.current = delayMs;
    return Math.min(window.current, window.previous);
  }
}
