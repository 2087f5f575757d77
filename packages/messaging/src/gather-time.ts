/** A handler that gathers is at work for at most a quarter of the time, until it has to gather longer than it may. */
const GATHER_TIMES = 3;

/** Gives the time, ms, during which messages come together after a batch that took so long. */
export function gatherTime(tookMs: number, gatherMs: { readonly least: number; readonly most: number } | undefined): number {
  return gatherMs === undefined ? 0 : Math.min(Math.max(GATHER_TIMES * tookMs, gatherMs.least), gatherMs.most);
}
