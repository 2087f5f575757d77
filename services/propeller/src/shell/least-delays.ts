interface Least {
  /** When the present interval began, ms. */
  began: number;
  present: number;
  previous: number;
}

/** Length of an interval, ms. The least delay is that of the present and the previous one, so that a service that became slower is known as such. */
const INTERVAL_MS = 60_000;

/** Keeps the least time in which each task type's requests were answered of late: without a queue before them. */
export class LeastDelays {
  readonly #byType = new Map<string, Least>();

  /** Notes a delay and gives the least one, ms. */
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
