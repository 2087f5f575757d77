/** When the state of a job is read. */
export interface PollSettings {
  /** Interval after the creation, ms. */
  readonly initialMs: number;
  /** Longest interval, ms. */
  readonly maxMs: number;
}

/**
 * Interval between readings as a share of the job's age: the delay of a change stays proportional
 * to the job's duration.
 */
const AGE_SHARE = 0.1;
/**
 * Maximum share by which the interval is shortened at random, so that readings of jobs created
 * together spread.
 */
const JITTER = 0.1;

/** Returns the time until the next reading of a job of this age, ms. */
export function pollInterval({ initialMs, maxMs }: PollSettings, ageMs: number, random: () => number): number {
  const interval = Math.min(maxMs, Math.max(initialMs, ageMs * AGE_SHARE));
  return Math.round(interval * (1 - JITTER * random()));
}
