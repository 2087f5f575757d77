import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseCron } from "./cron-expression.js";
import { cronRecurrence, intervalRecurrence, latestOccurrence, type Recurrence } from "./recurrence.js";
import { TimeZones } from "./time-zone.js";

const zones = new TimeZones();

function recurrence(text: string, from = "2026-01-01T00:00:00Z"): Recurrence {
  const parsed = parseCron(text);
  if (!parsed.ok) throw new Error(parsed.problem);
  return cronRecurrence(parsed.expression, { zones, zone: "UTC", from: Date.parse(from) });
}

/** Lists the first `count` times after `after`, without seconds. */
function times(text: string, after: string, count: number): string[] {
  const schedule = recurrence(text, after);
  const found: string[] = [];
  let next = schedule.next(Date.parse(after));
  while (next !== undefined && found.length < count) {
    found.push(new Date(next).toISOString().replace(":00.000Z", ""));
    next = schedule.next(next);
  }
  return found;
}

describe("days", () => {
  // 1 November 2026 is a Sunday.
  test.each([
    ["0 0 1,15 * *", ["2026-11-15T00:00", "2026-12-01T00:00"]],
    ["0 0 * * mon", ["2026-11-02T00:00", "2026-11-09T00:00"]],
    // Neither is a star: either day matches.
    ["0 0 3 * mon", ["2026-11-02T00:00", "2026-11-03T00:00", "2026-11-09T00:00"]],
    // A star with a step does not count as a star.
    ["0 0 */15 * mon", ["2026-11-02T00:00", "2026-11-09T00:00", "2026-11-16T00:00"]],
    ["0 0 */2 * mon", ["2026-11-02T00:00", "2026-11-03T00:00", "2026-11-05T00:00"]],
    // A star with a step of 1 counts, and so does `?`, also within a list: both must match.
    ["0 0 */1 * mon", ["2026-11-02T00:00", "2026-11-09T00:00"]],
    ["0 0 3,? * mon", ["2026-11-02T00:00", "2026-11-09T00:00"]],
    ["0 0 9 * mon,*", ["2026-11-09T00:00", "2026-12-09T00:00"]],
    ["0 0 31 * *", ["2026-12-31T00:00", "2027-01-31T00:00", "2027-03-31T00:00"]],
    ["0 12 29 2 *", ["2028-02-29T12:00", "2032-02-29T12:00"]],
  ])("%s", (text, expected) => expect(times(text, "2026-11-01T00:00:00Z", expected.length)).toEqual(expected));

  test("a date that never occurs has no next run", () => {
    expect(times("0 0 30 2 *", "2026-11-01T00:00:00Z", 1)).toEqual([]);
    // 2100 is no leap year, so eight years pass: more than the search covers.
    expect(times("0 0 29 2 *", "2097-01-01T00:00:00Z", 1)).toEqual([]);
  });
});

describe("changes of daylight saving time", () => {
  // New York: 2026-03-08 02:00 EST becomes 03:00 EDT, 2026-11-01 02:00 EDT becomes 01:00 EST.
  test("a skipped local time does not run on that day", () => {
    expect(times("TZ=America/New_York 30 2 * * *", "2026-03-07T00:00:00Z", 3)).toEqual([
      "2026-03-07T07:30",
      "2026-03-09T06:30",
      "2026-03-10T06:30",
    ]);
  });
  test("a repeated local time runs twice", () => {
    expect(times("TZ=America/New_York 30 1 * * *", "2026-11-01T00:00:00Z", 3)).toEqual([
      "2026-11-01T05:30",
      "2026-11-01T06:30",
      "2026-11-02T06:30",
    ]);
  });
  test("hourly schedules continue", () => {
    expect(times("CRON_TZ=America/New_York @hourly", "2026-03-08T05:30:00Z", 3)).toEqual([
      "2026-03-08T06:00",
      "2026-03-08T07:00",
      "2026-03-08T08:00",
    ]);
    expect(times("CRON_TZ=America/New_York 0 0-3 * * *", "2026-11-01T04:30:00Z", 4)).toEqual([
      "2026-11-01T05:00",
      "2026-11-01T06:00",
      "2026-11-01T07:00",
      "2026-11-01T08:00",
    ]);
  });
  test("a skipped midnight does not run", () => {
    // São Paulo: 2017-10-15 00:00 became 01:00.
    expect(times("TZ=America/Sao_Paulo 0 0 * * *", "2017-10-14T00:00:00Z", 3)).toEqual([
      "2017-10-14T03:00",
      "2017-10-16T02:00",
      "2017-10-17T02:00",
    ]);
  });
  test("half-hour shifts and a skipped date are handled", () => {
    // Lord Howe changes by half an hour at 2026-04-04T15:00Z; Apia had no 30 December 2011.
    expect(times("TZ=Australia/Lord_Howe 45 1 5 4 *", "2026-04-01T00:00:00Z", 2)).toEqual(["2026-04-04T14:45", "2026-04-04T15:15"]);
    expect(times("TZ=Pacific/Apia 0 12 * * *", "2011-12-29T00:00:00Z", 2)).toEqual(["2011-12-29T22:00", "2011-12-30T22:00"]);
  });
});

/** Lists every minute of four days around a clock change, in the zone's local time. */
function minutes(zone: string, from: string): { readonly at: number; readonly fields: readonly number[] }[] {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    month: "numeric",
    day: "numeric",
    weekday: "short",
    hour: "numeric",
    minute: "numeric",
  });
  return Array.from({ length: 4 * 1440 }, (_, i) => {
    const at = Date.parse(from) + i * 60_000;
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
    const weekday = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"].indexOf(parts.weekday as string);
    return { at, fields: [Number(parts.minute), Number(parts.hour), Number(parts.day), Number(parts.month), weekday] };
  });
}

describe("the next run equals that of a search minute by minute", () => {
  const values = (min: number, max: number) =>
    fc.oneof(
      { weight: 2, arbitrary: fc.constant("*") },
      fc.uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 12 }).map((list) => list.join(",")),
    );
  const fields = fc.tuple(values(0, 59), values(0, 23), values(1, 31), values(1, 12), values(0, 6));
  test.each([
    ["America/New_York", "2026-03-06T12:00:00Z"],
    ["America/New_York", "2026-10-30T12:00:00Z"],
    ["Europe/Berlin", "2027-03-26T12:00:00Z"],
    ["Europe/Berlin", "2027-10-29T12:00:00Z"],
    ["Asia/Kolkata", "2026-12-30T00:00:00Z"],
  ])("%s from %s", (zone, from) => {
    const all = minutes(zone, from);
    fc.assert(
      fc.property(fields, (words) => {
        const admits = words.map((word) => (word === "*" ? undefined : word.split(",").map(Number)));
        const fits = (shown: readonly number[], i: number) => admits[i]?.includes(shown[i] as number) ?? true;
        const expected = all.filter(({ fields: shown }) => {
          const either = admits[2] !== undefined && admits[4] !== undefined;
          const day = either ? fits(shown, 2) || fits(shown, 4) : fits(shown, 2) && fits(shown, 4);
          return day && fits(shown, 0) && fits(shown, 1) && fits(shown, 3);
        });
        const schedule = recurrence(`TZ=${zone} ${words.join(" ")}`);
        const found: number[] = [];
        const end = all.at(-1)?.at as number;
        for (let next = schedule.next(Date.parse(from) - 1); next !== undefined && next <= end; next = schedule.next(next))
          found.push(next);
        expect(found).toEqual(expected.map(({ at }) => at));
      }),
    );
  });
});

test("fixed intervals count from the whole second of their start", () => {
  const from = Date.parse("2026-11-01T10:00:07.650Z");
  const schedule = intervalRecurrence(600_000, from);
  expect(schedule.next(from)).toBe(Date.parse("2026-11-01T10:10:07Z"));
  expect(schedule.next(Date.parse("2026-11-01T10:10:07Z"))).toBe(Date.parse("2026-11-01T10:20:07Z"));
  expect(schedule.next(Date.parse("2026-11-01T10:10:06.999Z"))).toBe(Date.parse("2026-11-01T10:10:07Z"));
  expect(schedule.next(from - 1e9)).toBe(Date.parse("2026-11-01T10:10:07Z"));
  expect(intervalRecurrence(4_294_967_295 * 86_400_000, from).next(from)).toBeUndefined();
});

test("the latest run within a period is found, however long the period is", () => {
  const from = Date.parse("2016-11-01T10:00:30Z");
  const until = Date.parse("2026-11-01T10:00:30Z");
  expect(latestOccurrence(recurrence("* * * * *"), from, until)).toBe(Date.parse("2026-11-01T10:00:00Z"));
  expect(latestOccurrence(recurrence("0 0 29 2 *"), from, until)).toBe(Date.parse("2024-02-29T00:00:00Z"));
  expect(latestOccurrence(recurrence("* * * * *"), until - 30_000, until)).toBeUndefined();
  expect(latestOccurrence(recurrence("* * * * *"), until - 30_001, until)).toBe(until - 30_000);
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 40 * 86_400 }),
      fc.constantFrom("*/7 3 * * *", "@every 100s", "0 0 1 * *", "59 23 * * sun"),
      (seconds, text) => {
        const schedule = recurrence(text, new Date(from).toISOString());
        let last: number | undefined;
        const end = from + seconds * 1000;
        for (let next = schedule.next(from); next !== undefined && next <= end; next = schedule.next(next)) last = next;
        expect(latestOccurrence(schedule, from, end)).toBe(last);
      },
    ),
  );
});
