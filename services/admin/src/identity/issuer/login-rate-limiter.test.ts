import { expect, test } from "vitest";
import { createLoginRateLimiter } from "./login-rate-limiter.js";

function fixture() {
  const clock = { now: 1_000_000 };
  const limit = createLoginRateLimiter(() => new Date(clock.now));
  const times = (count: number, source: string) => Array.from({ length: count }, () => limit(source));
  return { clock, times };
}

test("a source may begin 120 sign-ins per minute, independent of others", () => {
  const { clock, times } = fixture();
  expect(times(120, "a")).toEqual(Array.from({ length: 120 }, () => undefined));
  clock.now += 10_000;
  expect(times(2, "a")).toEqual([50, 50]);
  expect(times(1, "b")).toEqual([undefined]);
  clock.now += 50_000;
  expect(times(1, "a")).toEqual([undefined]);
});

test("ten thousand sources are counted, and a clock that is set back blocks none", () => {
  const { clock, times } = fixture();
  times(120, "first");
  for (let other = 0; other < 9_999; other++) times(1, `${other}`);
  expect(times(1, "first")).toEqual([60]);
  times(1, "one more");
  expect(times(1, "first")).toEqual([undefined]);
  times(119, "first");
  clock.now -= 500_000;
  expect(times(1, "first")).toEqual([undefined]);
});
