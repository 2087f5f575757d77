/** When the state of a job is read. */
export interface PollSettings {
  /** Interval after the creation, ms. */
  readonly initialMs: number;
  /** Longest interval, ms. */
  readonly maxMs: number;
}

/** Share of a job's age after which it is read again, so that the delay of news is relative. */
const AGE_SHARE = 0.1;
/** Share of the interval by which it is shortened at most, so that jobs created together spread. */
const JITTER = 0.1;

/** Returns the time until the next reading of a job of this age, ms. */
export function pollInterval({ initialMs, maxMs }: PollSettings, ageMs: number, random: () => number): number {
  const interval = Math.min(maxMs, Math.max(initialMs, ageMs * AGE_SHARE));
  return Math.round(interval * (1 - JITTER * random()));
}
