import fc from "fast-check";
import { expect, test } from "vitest";
import { backoffDelay } from "./backoff.js";

test("doubles the delay up to the maximum", () => {
  const backoff = { initialMs: 100, maxMs: 1_000 };
  expect([0, 1, 2, 3, 4, 5_000].map((n) => backoffDelay(backoff, n))).toEqual([100, 200, 400, 800, 1_000, 1_000]);
});

test("grows by the given factor; a factor of 1 keeps the delay constant", () => {
  expect([0, 1, 2].map((n) => backoffDelay({ initialMs: 100, maxMs: 60_000, factor: 3 }, n))).toEqual([100, 300, 900]);
  expect(backoffDelay({ initialMs: 100, maxMs: 60_000, factor: 1 }, 1_000)).toBe(100);
});

test("jitter reduces the delay by at most its share and never raises it", () => {
  const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(fc.nat(100), unit, unit, (n, jitter, random) => {
      const backoff = { initialMs: 200, maxMs: 30_000 };
      const full = backoffDelay(backoff, n);
      const delay = backoffDelay({ ...backoff, jitter }, n, () => random);
      expect(delay).toBeLessThanOrEqual(full);
      expect(delay).toBeGreaterThanOrEqual(Math.floor(full * (1 - jitter)));
    }),
  );
});
