import fc from "fast-check";
import { expect, test } from "vitest";
import type { OverviewCounts } from "../../node-table/session/protocol.js";
import { TimeFolds, UNFOLDED } from "../../node-table/measure/time-folds.js";
import { clockStepMs } from "../hook/use-clock.js";
import { bucketsAround } from "./buckets.js";
import { beginBrush, moveBrush } from "./brush.js";
import { foldIdle, idleStretches } from "./fold-idle.js";
import { ticksOf, tickStepMs } from "./ticks.js";
import { clampWindow, followWindow, MIN_SPAN_MS, panWindow, pxOf, spanOf, type TimeWindow, timeOf, zoomWindow } from "./time-window.js";

const limits = { fromMs: 0, toMs: 100_000 };
const ms = fc.double({ min: 0, max: 100_000, noNaN: true });
const window: fc.Arbitrary<TimeWindow> = fc
  .tuple(ms, ms)
  .map(([a, b]) => clampWindow({ fromMs: Math.min(a, b), toMs: Math.max(a, b) }, limits));
const share = fc.double({ min: 0, max: 1, noNaN: true });
const factor = fc.double({ min: 0.01, max: 100, noNaN: true });

/** Expects a window to be within the limits. */
function expectWithin({ fromMs, toMs }: TimeWindow): void {
  expect(fromMs).toBeGreaterThanOrEqual(limits.fromMs);
  expect(toMs).toBeLessThanOrEqual(limits.toMs + 1e-6);
  expect(toMs - fromMs).toBeGreaterThanOrEqual(MIN_SPAN_MS - 1e-6);
}

test("pixels and times are inverse to each other", () => {
  fc.assert(
    fc.property(window, fc.integer({ min: 1, max: 4000 }), share, (shown, widthPx, at) => {
      expect(timeOf(shown, widthPx, pxOf(shown, widthPx, shown.fromMs + spanOf(shown) * at))).toBeCloseTo(
        shown.fromMs + spanOf(shown) * at,
        5,
      );
    }),
  );
});

test("zoom keeps the time under the pointer, unless the limits move it", () => {
  fc.assert(
    fc.property(window, factor, share, (shown, by, at) => {
      const zoomed = zoomWindow(shown, by, at, limits);
      expectWithin(zoomed);
      const isFree = zoomed.fromMs > limits.fromMs && zoomed.toMs < limits.toMs;
      const timeMs = timeOf(shown, 1, at);
      expect(isFree ? timeOf(zoomed, 1, at) : timeMs).toBeCloseTo(timeMs, 5);
    }),
  );
});

test("pan and follow keep the span within the limits", () => {
  fc.assert(
    fc.property(window, fc.double({ min: -3, max: 3, noNaN: true }), (shown, by) => {
      for (const moved of [panWindow(shown, by, limits), followWindow(shown, limits)]) {
        expectWithin(moved);
        expect(spanOf(moved)).toBeCloseTo(spanOf(shown), 5);
      }
      expect(followWindow(shown, limits).toMs).toBeCloseTo(limits.toMs, 5);
    }),
  );
});

test("a brush moves an edge, the window, or makes a new one", () => {
  const area = { widthPx: 1000, limits };
  const shown = { fromMs: 20_000, toMs: 40_000 };
  const brush = (from: number, to: number) => moveBrush(beginBrush(shown, from, area), to, area);
  expect(brush(203, 303)).toEqual({ fromMs: 30_300, toMs: 40_000 });
  expect(brush(400, 900)).toEqual({ fromMs: 20_000, toMs: 90_000 });
  expect(brush(400, 100)).toEqual({ fromMs: 10_000, toMs: 20_000 });
  expect(brush(300, 900)).toEqual({ fromMs: 80_000, toMs: 100_000 });
  expect(brush(700, 500)).toEqual({ fromMs: 50_000, toMs: 70_000 });
});

function counts(running: number[]): OverviewCounts {
  const none = new Float32Array(running.length);
  return {
    fromMs: 0,
    toMs: running.length * 10,
    activity: { queued: none, running: Float32Array.from(running), succeeding: none, failing: none, failures: none },
  };
}

const repeat = (value: number, count: number) => Array.from({ length: count }, () => value);

test("idle stretches of more than a twentieth of the time are folded, until they are opened", () => {
  const busy = counts([...repeat(1, 10), ...repeat(0, 6), ...repeat(0.5, 44), 0, ...repeat(1, 29), ...repeat(0, 10)]);
  expect(idleStretches(busy)).toEqual([
    { fromMs: 100, toMs: 160 },
    { fromMs: 900, toMs: 1000 },
  ]);
  expect(foldIdle(busy, [])).toMatchObject({ stretches: idleStretches(busy), foldedMs: 12.6 });
  expect(foldIdle(busy, [{ fromMs: 150, toMs: 155 }]).stretches).toEqual([{ fromMs: 900, toMs: 1000 }]);
  expect(foldIdle(counts([1, 1]), [])).toBe(UNFOLDED);
});

test("ticks are at multiples of a step, apart from each other and outside folds", () => {
  const folds = fc.constantFrom(UNFOLDED, new TimeFolds([{ fromMs: 30_000, toMs: 60_000 }], 700));
  fc.assert(
    fc.property(window, fc.integer({ min: 90, max: 3000 }), folds, fc.nat({ max: 86_400_000 }), (shown, widthPx, folded, alignMs) => {
      const ticks = ticksOf({ window: shown, widthPx, folds: folded, alignMs });
      const step = tickStepMs(shown, widthPx);
      expect(ticks.length).toBeLessThanOrEqual(widthPx / 90 + 2);
      for (const { timeMs, px } of ticks) {
        expect((timeMs + alignMs) % step).toBeCloseTo(0, 3);
        expect(timeOf(shown, widthPx, px)).toBeCloseTo(folded.fold(timeMs), 3);
        expect(folded.stretches.some(({ fromMs, toMs }) => timeMs > fromMs && timeMs < toMs)).toBe(false);
      }
    }),
  );
});

test("time goes on in steps that are seen: four in a second at most, one in a second at least", () => {
  expect([0, 100, 250, 499, 10_000].map(clockStepMs)).toEqual([500, 500, 500, 500, 1_000]);
});

test("buckets cover the window, are two pixels wide at most, and stay while it grows a little", () => {
  fc.assert(
    fc.property(window, fc.integer({ min: 1, max: 4000 }), (shown, widthPx) => {
      const { fromMs, toMs, count } = bucketsAround(shown, widthPx);
      expect(fromMs).toBeLessThanOrEqual(shown.fromMs);
      expect(toMs).toBeGreaterThanOrEqual(shown.toMs);
      expect(((toMs - fromMs) / count / spanOf(shown)) * widthPx).toBeLessThanOrEqual(2);
      expect(count).toBeLessThanOrEqual(18 * Math.ceil(widthPx / 16));
    }),
  );
  const seen = Array.from({ length: 1_000 }, (_, tick) => JSON.stringify(bucketsAround({ fromMs: 0, toMs: 60_000 + tick * 60 }, 1_000)));
  expect(new Set(seen).size).toBeLessThan(12);
  expect(bucketsAround({ fromMs: 3, toMs: 1_000 }, 500, true)).toEqual({ fromMs: 3, toMs: 1_000, count: 250 });
});
