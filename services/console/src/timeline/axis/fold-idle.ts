import type { OverviewCounts } from "../../node-table/session/protocol.js";
import { type Stretch, TimeFolds, UNFOLDED } from "../../node-table/measure/time-folds.js";

/** Share of the time above which a stretch with nothing running is folded. */
const MIN_SHARE = 0.05;
/** Share of the rest of the time that a fold takes. */
const FOLDED_SHARE = 0.015;

/** Lists the stretches in which no node runs, to a bucket of the counts. */
export function idleStretches({ fromMs, toMs, activity }: OverviewCounts): Stretch[] {
  const { running, succeeding, failing } = activity;
  const bucketMs = (toMs - fromMs) / running.length;
  const found: Stretch[] = [];
  let first = -1;
  for (let bucket = 0; bucket <= running.length; bucket++) {
    const isIdle = running[bucket] === 0 && succeeding[bucket] === 0 && failing[bucket] === 0;
    if (isIdle && first === -1) first = bucket;
    if (isIdle || first === -1) continue;
    const stretch = { fromMs: fromMs + first * bucketMs, toMs: fromMs + bucket * bucketMs };
    if (stretch.toMs - stretch.fromMs > MIN_SHARE * (toMs - fromMs)) found.push(stretch);
    first = -1;
  }
  return found;
}

/** Folds the idle stretches of an execution, except those that a person has opened. */
export function foldIdle(counts: OverviewCounts, opened: readonly Stretch[]): TimeFolds {
  const stretches = idleStretches(counts).filter((each) => !opened.some((other) => other.fromMs < each.toMs && each.fromMs < other.toMs));
  if (stretches.length === 0) return UNFOLDED;
  const idleMs = stretches.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
  return new TimeFolds(stretches, FOLDED_SHARE * (counts.toMs - counts.fromMs - idleMs));
}
