import { expect, test } from "vitest";
import { bars } from "./bars.js";

const QUARTER = 900_000;
const end = Date.UTC(2026, 10, 27, 12, 1);
const at = (quarters: number): string => new Date(Math.floor(end / QUARTER) * QUARTER - quarters * QUARTER).toISOString();

test("buckets are placed by time, the newest last, and stacked by what became of the executions", () => {
  const { columns, top } = bars(
    [
      { startsAt: at(95), totals: { succeeded: 1 } },
      { startsAt: at(0), totals: { succeeded: 20, failed: 3, open: 1 } },
    ],
    { bucketMs: QUARTER, endMs: end, count: 96 },
  );
  expect(columns.map(({ index, total }) => [index, total])).toEqual([
    [0, 1],
    [95, 24],
  ]);
  expect(columns[1]?.parts).toEqual([
    { kind: "succeeded", from: 0, to: 20 },
    { kind: "failed", from: 20, to: 23 },
    { kind: "open", from: 23, to: 24 },
  ]);
  expect(top).toBe(30);
});

test("a bucket outside of the period is left out, and an empty period has a scale", () => {
  expect(bars([{ startsAt: at(96), totals: { failed: 1 } }], { bucketMs: QUARTER, endMs: end, count: 96 })).toMatchObject({
    columns: [],
    top: 1,
  });
});
