import { latest } from "@flyte-ts/domain";
import type { Schedule } from "./schedule.js";

/** What is to be done next about one schedule. Times are ms since the epoch. */
export type Decision =
  | { readonly kind: "never" }
  | { readonly kind: "wait"; readonly until: number }
  /** Start the run of `at`; what was due before it is left out, from `from` on. */
  | { readonly kind: "start"; readonly at: number; readonly from: number; readonly isMissed: boolean }
  /** Leave out what was due from `from` to `through`. */
  | { readonly kind: "skip"; readonly from: number; readonly through: number };

export interface Situation {
  /** Everything due until here is done. */
  readonly doneThrough: number;
  readonly now: number;
  /** A run that is later than this was missed, ms. */
  readonly missedAfterMs: number;
}

/**
 * Runs go in their order, one at a time. As long as none was missed each is started, however late. When the oldest
 * one was missed the policy speaks: all are started; or the last one that is due; or that one only if it was not
 * itself missed.
 */
export function decide(
  { recurrence, catchUp }: Pick<Schedule, "recurrence" | "catchUp">,
  { doneThrough, now, missedAfterMs }: Situation,
): Decision {
  const first = recurrence.next(doneThrough);
  if (first === undefined) return { kind: "never" };
  if (first > now) return { kind: "wait", until: first };
  const isMissed = (at: number) => now - at > missedAfterMs;
  if (!isMissed(first) || catchUp === "all") return { kind: "start", at: first, from: first, isMissed: isMissed(first) };
  const last = latest(recurrence, doneThrough, now) ?? first;
  if (catchUp === "none" && isMissed(last)) return { kind: "skip", from: first, through: last };
  return { kind: "start", at: last, from: first, isMissed: isMissed(last) };
}
