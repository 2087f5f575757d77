import type { TimeZone } from "./time-zone.js";

const DAY = 86_400;

/** Date and time in some zone. Months and days count from 1, Sunday is 0. */
export interface LocalTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly weekday: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

/** Converts a second of the epoch to the zone's local time. */
export function localTime(second: number, zone: TimeZone): LocalTime {
  const local = second + zone.offsetAt(second);
  const days = Math.floor(local / DAY);
  const clock = local - days * DAY;
  // Howard Hinnant's civil_from_days: years that begin in March have their leap day at the end.
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  return {
    year: era * 400 + yearOfEra + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1,
    weekday: (((days + 4) % 7) + 7) % 7,
    hour: Math.floor(clock / 3600),
    minute: Math.floor(clock / 60) % 60,
    second: clock % 60,
  };
}

/**
 * Converts a local time to a second of the epoch; months and days may be out of range. A time that
 * clocks skip or show twice gives one of the two readings, the same as Go's `time.Date`.
 */
export function secondOf(
  { year, month, day, hour = 0, minute = 0 }: { year: number; month: number; day: number; hour?: number; minute?: number },
  zone: TimeZone,
): number {
  const local = Date.UTC(year, month - 1, day, hour, minute) / 1000;
  const guess = local - zone.offsetAt(local);
  return local - zone.offsetAt(guess);
}
