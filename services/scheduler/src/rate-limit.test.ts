import { expect, test } from "vitest";
import { RateLimit } from "./rate-limit.js";

function through(perSecond: number, ms: number): number {
  const limit = new RateLimit(perSecond);
  let count = 0;
  for (let now = 0; now < ms; ) {
    const wait = limit.take(now);
    if (wait === 0) count++;
    now += wait;
  }
  return count;
}

test.each([
  [10, 10_000, 109],
  [0.5, 10_000, 5],
])("%d a second and no more, from a full second on", (perSecond, ms, most) => {
  expect(through(perSecond, ms)).toBeLessThanOrEqual(most + 1);
  expect(through(perSecond, ms)).toBeGreaterThanOrEqual(most - 1);
});

test("a clock that is set back lets nothing more through", () => {
  const limit = new RateLimit(1);
  expect(limit.take(10_000)).toBe(0);
  expect(limit.take(5_000)).toBe(1000);
  expect(limit.take(6_000)).toBe(0);
});
