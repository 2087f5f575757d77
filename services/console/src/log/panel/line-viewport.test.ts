import fc from "fast-check";
import { expect, test } from "vitest";
import { movePlace, placeAround, placeAt, scrollTopOf, spacerPx } from "./line-viewport.js";

const long = { lines: 1_000_000, rowPx: 20, viewPx: 600 };

test("the scroll bar reaches the first and the last of a million lines", () => {
  expect(spacerPx(long)).toBeLessThan(16_000_000);
  expect(placeAt(0, long)).toEqual({ line: 0, offsetPx: 0 });
  const end = placeAt(spacerPx(long) - long.viewPx, long);
  expect(end.line + (end.offsetPx + long.viewPx) / long.rowPx).toBeCloseTo(long.lines, 3);
});

test("a place and its position of the scroll bar belong together", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2_000_000 }), fc.nat({ max: 10_000 }), (lines, part) => {
      const extent = { lines, rowPx: 20, viewPx: 600 };
      const scrollTop = (Math.max(0, spacerPx(extent) - extent.viewPx) * part) / 10_000;
      expect(scrollTopOf(placeAt(scrollTop, extent), extent)).toBeCloseTo(scrollTop, 3);
    }),
  );
});

test("moving there and back over lines of several heights leads to the same pixel", () => {
  const heightOf = (line: number): number => 20 * (1 + (line % 3));
  const pxOf = ({ line, offsetPx }: { line: number; offsetPx: number }): number =>
    Array.from({ length: line }, (_, at) => heightOf(at)).reduce((sum, height) => sum + height, offsetPx);
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: -3_000, max: 3_000 }), (start, delta) => {
      const from = movePlace({ line: 0, offsetPx: 0 }, start, { heightOf, lines: 100 });
      const to = movePlace(from, delta, { heightOf, lines: 100 });
      expect(pxOf(from)).toBe(start);
      expect(pxOf(to)).toBe(Math.max(0, Math.min(start + delta, pxOf({ line: 100, offsetPx: 0 }))));
    }),
  );
});

test("a line is shown in the middle, as far as there are lines around it", () => {
  expect(placeAround(500, long).line).toBe(485);
  expect(placeAround(2, long).line).toBe(0);
  expect(placeAround(999_999, long).line).toBe(999_970);
});
