import { expect, test } from "vitest";
import { dateTimeValue, readDateTime } from "./date-time.js";
import { formatDurationNs, readDurationNs } from "./duration.js";
import { readFloat, readInteger } from "./number.js";

test.each([
  ["1h 30m", 5_400n],
  ["90s", 90n],
  ["-2d", -172_800n],
  ["1w", 604_800n],
])("the duration %s is %d seconds", (text, seconds) => expect(readDurationNs(text)).toEqual({ value: seconds * 1_000_000_000n }));

test("parts of a second are exact", () => {
  expect(readDurationNs("1.5s 20ms 3us")).toEqual({ value: 1_520_003_000n });
  expect([formatDurationNs(0n), formatDurationNs(90_061_500_000_000n), formatDurationNs(-1n)]).toEqual([
    "0s",
    "1d 1h 1m 1.5s",
    "-0.000000001s",
  ]);
});

test.each([
  ["2026-11-14 00:00:00", "Europe/Berlin", "2026-11-13T23:00:00Z"],
  ["2026-07-14", "Europe/Berlin", "2026-07-13T22:00:00Z"],
  ["2026-11-14T08:30", "UTC", "2026-11-14T08:30:00Z"],
  ["2026-11-14 08:30:00+05:30", "Europe/Berlin", "2026-11-14T03:00:00Z"],
  ["2026-03-29 03:00:00", "Europe/Berlin", "2026-03-29T01:00:00Z"],
  ["2026-11-14 08:30:00.250", "UTC", "2026-11-14T08:30:00.25Z"],
])("%s in %s is %s", (at, zone, json) => {
  expect(readDateTime({ at, zone })).toEqual({ value: json });
  expect(readDateTime(dateTimeValue(json, zone) ?? { at: "", zone })).toEqual({ value: json });
});

test("the second of two equal hours of a night stays itself", () => {
  expect(readDateTime(dateTimeValue("2026-10-25T00:30:00Z", "Europe/Berlin") ?? { at: "", zone: "" })).toEqual({
    value: "2026-10-25T00:30:00Z",
  });
  expect(readDateTime(dateTimeValue("2026-10-25T01:30:00Z", "Europe/Berlin") ?? { at: "", zone: "" })).toEqual({
    value: "2026-10-25T01:30:00Z",
  });
});

test("numbers take underscores, signs, exponents and names", () => {
  expect([readInteger("+1_000").value, readInteger(" -5 ").value]).toEqual([1_000n, -5n]);
  expect(["1e-3", "NaN", "-inf", ".5", "1_0.5"].map((text) => readFloat(text).value)).toEqual([
    0.001,
    Number.NaN,
    Number.NEGATIVE_INFINITY,
    0.5,
    10.5,
  ]);
});
