/**
 * Ratio of the gathering pause to the duration of the last batch. It keeps a gathering handler busy
 * for at most a quarter of the time, unless the pause would exceed its maximum.
 */
const BATCH_WINDOW_FACTOR = 3;

/** Returns how long to gather messages after a batch of this duration, ms. */
export function nextBatchWindow(tookMs: number, window: { readonly min: number; readonly max: number } | undefined): number {
  return window === undefined ? 0 : Math.min(Math.max(BATCH_WINDOW_FACTOR * tookMs, window.min), window.max);
}
