import { backoffDelay } from "@flyte-ts/async";

export interface PollingConfig {
  readonly initialMs: number;
  readonly growth: number;
  readonly maxMs: number;
}

/** Age from which a task is polled at most once a second, ms. */
const YOUNG_MS = 60_000;
const MIN_OLD_DELAY_MS = 1_000;
const JITTER = 0.2;

/**
 * Delay before the next GetTask, ms: short for a new task, longer with each call.
 *
 * @param polls number of calls so far
 */
export function pollDelay(
  { initialMs, growth, maxMs }: PollingConfig,
  { polls, ageMs, random }: { readonly polls: number; readonly ageMs: number; readonly random: () => number },
): number {
  const delayMs = backoffDelay({ initialMs, maxMs, factor: growth, jitter: JITTER }, polls, random);
  return ageMs < YOUNG_MS ? delayMs : Math.max(MIN_OLD_DELAY_MS, delayMs);
}
