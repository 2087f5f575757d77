import { latestOccurrence } from "@flyte-ts/schedules";
import type { Schedule } from "./schedule.js";

/** The next action for one schedule. Times are ms since the epoch. */
export type ScheduleAction =
  | { readonly kind: "never" }
  | { readonly kind: "wait"; readonly until: number }
  /** Start the run of `at`; earlier due runs, from `from` on, are skipped. */
  | { readonly kind: "start"; readonly at: number; readonly from: number; readonly isMissed: boolean }
  /** Skip the runs due from `from` to `through`. */
  | { readonly kind: "skip"; readonly from: number; readonly through: number };

export interface ScheduleState {
  /** All runs due until this time are done. */
  readonly watermark: number;
  readonly now: number;
  /** Lateness from which a run counts as missed, ms. */
  readonly missedAfterMs: number;
}

/**
 * Runs are started in order, one at a time. While none is missed each is started, however late.
 * When the oldest one is missed the policy applies: all are started; or the last due one; or that
 * one only if it is not missed itself.
 */
export function nextAction(
  { recurrence, catchUp }: Pick<Schedule, "recurrence" | "catchUp">,
  { watermark, now, missedAfterMs }: ScheduleState,
): ScheduleAction {
  const first = recurrence.next(watermark);
  if (first === undefined) return { kind: "never" };
  if (first > now) return { kind: "wait", until: first };
  const isMissed = (at: number) => now - at > missedAfterMs;
  if (!isMissed(first) || catchUp === "all") return { kind: "start", at: first, from: first, isMissed: isMissed(first) };
  const last = latestOccurrence(recurrence, watermark, now) ?? first;
  if (catchUp === "none" && isMissed(last)) return { kind: "skip", from: first, through: last };
  return { kind: "start", at: last, from: first, isMissed: isMissed(last) };
}
