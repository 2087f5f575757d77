import type { CronExpression } from "./cron-expression.js";
import { nextCronTime } from "./next-cron-time.js";
import type { TimeZones } from "./time-zone.js";

/** The latest time that a Date can hold, ms. */
const END_OF_TIME = 8_640_000_000_000_000;

/** Due times, ms since the epoch, each a whole second. */
export interface Recurrence {
  /**
   * Returns the first due time after a time; undefined when there is none (within five years, for
   * cron fields).
   */
  next(after: number): number | undefined;
}

/**
 * Recurs every `intervalMs` (whole seconds) after `from`, whose fraction of a second is dropped;
 * not at `from` itself.
 */
export function intervalRecurrence(intervalMs: number, from: number): Recurrence {
  const anchor = Math.floor(from / 1000) * 1000;
  return {
    next: (after) => {
      const next = anchor + (Math.max(Math.floor((after - anchor) / intervalMs), 0) + 1) * intervalMs;
      return next > END_OF_TIME ? undefined : next;
    },
  };
}

/**
 * Recurs as an expression says; `@every` counts from `from`, `zone` applies when the expression
 * names none.
 */
export function cronRecurrence(
  expression: CronExpression,
  { zones, zone, from }: { zones: TimeZones; zone: string; from: number },
): Recurrence {
  if (expression.kind === "interval") return intervalRecurrence(expression.intervalMs, from);
  const place = zones.get(expression.zone ?? zone);
  return {
    next: (after) => {
      const next = nextCronTime(expression, Math.floor(after / 1000), place);
      return next === undefined ? undefined : next * 1000;
    },
  };
}

/**
 * Returns the last due time after `after` and not after `until`; undefined when there is none.
 * Searches back from `until` in growing steps, so that years of missed minutes cost no more than an
 * hour of them.
 */
export function latestOccurrence(recurrence: Recurrence, after: number, until: number): number | undefined {
  let last: number | undefined;
  for (let back = 1000; ; back *= 4) {
    const from = Math.max(after, until - back);
    let next = recurrence.next(from);
    while (next !== undefined && next <= until) {
      last = next;
      next = recurrence.next(next);
    }
    if (last !== undefined || from === after) return last;
  }
}
