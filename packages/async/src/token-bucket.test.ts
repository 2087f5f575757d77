import fc from "fast-check";
import { expect, test } from "vitest";
import { TokenBucket } from "./token-bucket.js";

test("permits a burst, then one operation per interval", () => {
  const bucket = new TokenBucket({ burst: 3, intervalMs: 100 });
  expect([0, 0, 0, 0].map((now) => bucket.take(now))).toEqual([true, true, true, false]);
  expect([99, 100, 150, 200].map((now) => bucket.take(now))).toEqual([false, true, false, true]);
});

test("reserves permits one interval apart once the burst is used", () => {
  const bucket = new TokenBucket({ burst: 2, intervalMs: 250 });
  expect([0, 0, 0, 0].map((now) => bucket.reserve(now))).toEqual([0, 0, 250, 500]);
  expect(bucket.reserve(600)).toBe(150);
});

test("permits at most the burst plus one operation per interval within any time span, also when the clock is set back", () => {
  const options = { burst: 4, intervalMs: 10 };
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -5, max: 30 }), { maxLength: 60 }), (steps) => {
      const bucket = new TokenBucket(options);
      let now = 1_000;
      let forward = 0;
      let taken = 0;
      for (const step of steps) {
        now += step;
        forward += Math.max(0, step);
        if (bucket.take(now)) taken++;
        expect(taken).toBeLessThanOrEqual(options.burst + forward / options.intervalMs);
      }
    }),
  );
});

test("an operation that waits its reserved delay meets the same rate", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(30), { maxLength: 60 }), fc.integer({ min: 1, max: 5 }), (steps, burst) => {
      const bucket = new TokenBucket({ burst, intervalMs: 10 });
      let now = 0;
      const startedAt: number[] = [];
      for (const step of steps) {
        now += step;
        startedAt.push(now + bucket.reserve(now));
      }
      // Any `burst + 1` consecutive operations span at least one interval.
      for (const [index, at] of startedAt.entries()) expect(at - (startedAt[index - burst] ?? -10)).toBeGreaterThanOrEqual(10 - 1e-6);
    }),
  );
});
