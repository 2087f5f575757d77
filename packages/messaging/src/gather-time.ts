/** Keeps a gathering handler busy for at most a quarter of the time, unless the pause would exceed its maximum. */
const GATHER_TIMES = 3;

/** Returns how long to gather messages after a batch of this duration, ms. */
export function gatherTime(tookMs: number, gatherMs: { readonly least: number; readonly most: number } | undefined): number {
  return gatherMs === undefined ? 0 : Math.min(Math.max(GATHER_TIMES * tookMs, gatherMs.least), gatherMs.most);
}
