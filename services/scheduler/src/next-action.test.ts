import { intervalRecurrence } from "@flyte-ts/schedules";
import { describe, expect, test } from "vitest";
import { nextAction } from "./next-action.js";
import type { CatchUpPolicy } from "./schedule.js";

const MINUTE = 60_000;
const recurrence = intervalRecurrence(MINUTE, 0);
const decideAt = (catchUp: CatchUpPolicy, now: number, watermark = 0) =>
  nextAction({ recurrence, catchUp }, { watermark, now, missedAfterMs: 90_000 });

describe.each(["all", "last", "none"] as const)("a schedule with catch-up policy %s", (policy) => {
  test("has nothing to do before its next run", () => {
    expect(decideAt(policy, MINUTE - 1)).toEqual({ kind: "wait", until: MINUTE });
    expect(decideAt(policy, 5 * MINUTE, 5 * MINUTE)).toEqual({ kind: "wait", until: 6 * MINUTE });
  });
  test("starts late runs that were not missed in order", () => {
    expect(decideAt(policy, MINUTE)).toEqual({ kind: "start", at: MINUTE, from: MINUTE, isMissed: false });
    expect(decideAt(policy, MINUTE + 90_000)).toEqual({ kind: "start", at: MINUTE, from: MINUTE, isMissed: false });
  });
  test("has no next run for a date that never occurs", () =>
    expect(nextAction({ recurrence: { next: () => undefined }, catchUp: policy }, { watermark: 0, now: 1, missedAfterMs: 1 })).toEqual({
      kind: "never",
    }));
});

test("applies the catch-up policy to missed runs", () => {
  const now = 60 * MINUTE + 1;
  expect(decideAt("all", now)).toEqual({ kind: "start", at: MINUTE, from: MINUTE, isMissed: true });
  expect(decideAt("last", now)).toEqual({ kind: "start", at: 60 * MINUTE, from: MINUTE, isMissed: false });
  expect(decideAt("none", now)).toEqual({ kind: "start", at: 60 * MINUTE, from: MINUTE, isMissed: false });
});

test("treats the last run as missed, too", () => {
  const hourly = { recurrence: intervalRecurrence(60 * MINUTE, 0) };
  const state = { watermark: 0, now: 150 * MINUTE, missedAfterMs: 90_000 };
  expect(nextAction({ ...hourly, catchUp: "last" }, state)).toEqual({
    kind: "start",
    at: 120 * MINUTE,
    from: 60 * MINUTE,
    isMissed: true,
  });
  expect(nextAction({ ...hourly, catchUp: "none" }, state)).toEqual({ kind: "skip", from: 60 * MINUTE, through: 120 * MINUTE });
});
