interface Least {
  /** Start of the current interval, ms. */
  began: number;
  present: number;
  previous: number;
}

/**
 * Length of an interval, ms. The minimum delay covers the current and the previous interval, so that it adapts to a
 * service that became slower.
 */
const INTERVAL_MS = 60_000;

/** Tracks the minimum recent response time per task type, which excludes queueing. */
export class LeastDelays {
  readonly #byType = new Map<string, Least>();

  /** Records a delay and returns the minimum, ms. */
  least(taskType: string, delayMs: number, now: number): number {
    const least = this.#byType.get(taskType);
    if (least === undefined) {
      this.#byType.set(taskType, { began: now, present: delayMs, previous: delayMs });
      return delayMs;
    }
    if (now - least.began >= INTERVAL_MS) {
      least.previous = least.present;
      least.present = delayMs;
      least.began = now;
    } else if (delayMs < least.present) least.present = delayMs;
    return Math.min(least.present, least.previous);
  }
}
