import type { CronFields } from "./cron-expression.js";
import { type LocalTime, localTime, secondOf } from "./local-time.js";
import type { TimeZone } from "./time-zone.js";

/** Number of years to search before giving up. */
const YEARS = 5;

/**
 * Returns the first second after `after` (whole seconds of the epoch) that matches the fields in
 * the zone's local time; undefined when there is none within five years.
 *
 * The search is that of robfig/cron v3, field by field from the month down, because its behavior at
 * clock changes follows from it: skipped times are left out, repeated times come twice.
 */
export function nextCronTime(fields: CronFields, after: number, zone: TimeZone): number | undefined {
  const { minute: minutes, hour: hours, month: months } = fields;
  let second = after + 1;
  let time = localTime(second, zone);
  const lastYear = time.year + YEARS;
  // True once the smaller fields have been reset to their minimum.
  let moved = false;
  const goTo = (next: number) => {
    second = next;
    time = localTime(second, zone);
  };

  wrap: for (;;) {
    if (time.year > lastYear) return undefined;
    while (months.admits[time.month] !== 1) {
      if (!moved) goTo(secondOf({ year: time.year, month: time.month, day: 1 }, zone));
      moved = true;
      goTo(secondOf({ ...time, month: time.month + 1 }, zone));
      if (time.month === 1) continue wrap;
    }
    while (!admitsDay(fields, time)) {
      if (!moved) goTo(secondOf({ year: time.year, month: time.month, day: time.day }, zone));
      moved = true;
      goTo(secondOf({ ...time, day: time.day + 1 }, zone));
      // Midnight may be skipped: the hour is then 23 of the day before, or 1.
      if (time.hour !== 0) goTo(second + (time.hour > 12 ? 24 - time.hour : -time.hour) * 3600);
      if (time.day === 1) continue wrap;
    }
    while (hours.admits[time.hour] !== 1) {
      if (!moved) goTo(secondOf({ year: time.year, month: time.month, day: time.day, hour: time.hour }, zone));
      moved = true;
      goTo(second + 3600);
      if (time.hour === 0) continue wrap;
    }
    while (minutes.admits[time.minute] !== 1) {
      if (!moved) second -= second % 60;
      moved = true;
      goTo(second + 60);
      if (time.minute === 0) continue wrap;
    }
    if (time.second === 0) return second;
    moved = true;
    goTo(second + 60 - time.second);
  }
}

function admitsDay({ dayOfMonth, dayOfWeek }: CronFields, { day, weekday }: LocalTime): boolean {
  const ofMonth = dayOfMonth.admits[day] === 1;
  const ofWeek = dayOfWeek.admits[weekday] === 1;
  return dayOfMonth.isStar || dayOfWeek.isStar ? ofMonth && ofWeek : ofMonth || ofWeek;
}
