import type { CatchUpPolicy } from "../schedule.js";
import { MINUTE } from "./sample-schedule.js";
import { simulatedConfig } from "./world.js";

/** Maximum difference of replicas' clocks from the true one, ms. */
const SKEW_MS = 20;

/** A period in which nothing could be started. */
export interface Outage {
  readonly from: number;
  readonly to: number;
}

/** History of one schedule. Times are ms since the epoch. */
export interface Timeline {
  readonly policy: CatchUpPolicy;
  readonly due: readonly number[];
  /** Start times of each run, by its due time. */
  readonly runs: ReadonlyMap<number, readonly number[]>;
  readonly outages: readonly Outage[];
}

/** Lists violations of the scheduler's guarantees. */
export function findViolations({ policy, runs, due, outages }: Timeline): string[] {
  const { missedAfterMs, claimMs } = simulatedConfig;
  const expected = new Set(due);
  const wrong: string[] = [];
  const startedAt = (at: number) => runs.get(at)?.[0] as number;
  for (const [at, started] of runs) {
    if (!expected.has(at)) wrong.push(`${at} was started and never due`);
    if (started.length > 1) wrong.push(`${at} was started ${started.length} times`);
    if (startedAt(at) < at - SKEW_MS) wrong.push(`${at} was started before its time`);
  }
  // Only an outage allows a policy to skip runs.
  const isNear = (at: number) => outages.some(({ from, to }) => at > from - missedAfterMs && at <= to);
  for (const at of due) if (!runs.has(at) && (policy === "all" || !isNear(at))) wrong.push(`${at} was not started`);
  switch (policy) {
    case "all":
      break;
    case "last":
      for (const { from, to } of outages) {
        const late = [...runs.keys()].filter((at) => at > from && at <= to && startedAt(at) > to);
        if (late.length > 1) wrong.push(`${late.length} were made up for after the outage until ${to}`);
        // The last due run, or a later one when the start took long.
        const last = due.findLast((at) => at <= to);
        const isMadeUp = [...runs.keys()].some((at) => at >= (last ?? 0) && at <= to + 2 * MINUTE);
        if (last !== undefined && last >= from && !isMadeUp) wrong.push(`${last} was not made up for`);
      }
      break;
    case "none":
      for (const at of runs.keys()) if (startedAt(at) - at > missedAfterMs + claimMs) wrong.push(`${at} was made up for`);
  }
  return wrong;
}
