import { describe, expect, it } from "vitest";
import { goDuration } from "./duration.js";
import { latestPossibleMs, rfc3339Seconds } from "./rfc3339.js";
import { TimerHeap } from "./timer-heap.js";

describe("times of a status", () => {
  it("are whole seconds, and never move a deadline earlier when they are read back", () => {
    const at = Date.parse("2026-11-21T10:00:00.999Z");
    expect(rfc3339Seconds(at)).toBe("2026-11-21T10:00:00Z");
    expect(latestPossibleMs(rfc3339Seconds(at))).toBeGreaterThanOrEqual(at);
    expect(latestPossibleMs("2026-11-21T10:00:00.325Z")).toBe(Date.parse("2026-11-21T10:00:00.325Z"));
    expect(latestPossibleMs("soon")).toBeUndefined();
  });
});

describe("goDuration", () => {
  it("formats durations as Go does", () => {
    expect([0, 500, 8_000, 1_500, 60_000, 3_661_000, 7_200_000].map(goDuration)).toEqual([
      "0s",
      "500ms",
      "8s",
      "1.5s",
      "1m0s",
      "1h1m1s",
      "2h0m0s",
    ]);
  });
});

describe("TimerHeap", () => {
  it("returns each subject once, at the earliest requested time", () => {
    const timers = new TimerHeap<{ name: string }>();
    const [a, b, c] = [{ name: "a" }, { name: "b" }, { name: "c" }];
    timers.schedule(a, 30);
    timers.schedule(a, 10);
    timers.schedule(b, 20);
    timers.schedule(c, 15);
    timers.cancel(c);
    expect(timers.next).toBe(10);
    expect(timers.popDue(25)).toEqual([a, b]);
    expect(timers.popDue(100)).toEqual([]);
  });
});
