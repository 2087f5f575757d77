import fc from "fast-check";
import { expect, test } from "vitest";
import { listByStart, listTree } from "../order/list-rows.js";
import { allRows } from "../order/sort-rows.js";
import { buildTree } from "../order/tree.js";
import { NODE_STATES } from "../table/node-state.js";
import { nodeRows, tableOf } from "../table/table.fixture.js";
import { nodeRow } from "../wire/chunk.fixture.js";
import { countActivity } from "./activity.js";
import { findCriticalPath } from "./critical-path.js";
import { buildPyramid, patchPyramid } from "./pyramid.js";
import { TimeFolds } from "./time-folds.js";

test("each cell of a pyramid sums up its rows, also after a change in place", () => {
  fc.assert(
    fc.property(nodeRows(), fc.nat(), fc.nat({ max: 10 }), (rows, changed, phase) => {
      const table = tableOf(rows);
      const order = listByStart(table);
      const pyramid = buildPyramid(table, order);
      if (rows.length > 0) {
        const row = changed % rows.length;
        table.started[row] = 7;
        table.ended[row] = 2000;
        table.state[row] = phase % NODE_STATES.length;
        patchPyramid(pyramid, order.placeOf[row] ?? -1, { table, order });
      }
      for (const [level, cells] of pyramid.entries()) {
        for (let cell = 0; cell < cells.queued.length; cell++) {
          const covered = [...order.entries.subarray(cell << level, Math.min((cell + 1) << level, order.length))];
          const of = (values: ArrayLike<number>): number[] => covered.map((row) => values[row] ?? Number.NaN);
          const count = (state: string): number => of(table.state).filter((each) => NODE_STATES[each] === state).length;
          expect([cells.queued[cell], cells.started[cell], cells.ended[cell], cells.failed[cell], cells.running[cell]]).toEqual([
            Math.min(...of(table.queued)),
            Math.min(...of(table.started)),
            Math.max(...of(table.ended)),
            count("failed"),
            count("running"),
          ]);
        }
      }
      expect(pyramid.at(-1)?.queued.length).toBe(Math.min(rows.length, 1));
    }),
  );
});

test("a group's cell sums up its members", () => {
  const rows = Array.from({ length: 300 }, (_, at) => nodeRow({ key: at + 1, phase: 5, queued: at, started: at + 5, ended: at + 10 }));
  const table = tableOf(rows);
  const [level] = buildPyramid(table, listTree({ table, tree: buildTree(table), expansion: new Map() }));
  expect([level?.queued[0], level?.started[0], level?.ended[0], level?.failed[0], level?.running[0]]).toEqual([0, 5, 309, 300, 0]);
});

test("activity is the mean number of nodes over each bucket", () => {
  const folds = fc.constantFrom(undefined, new TimeFolds([{ fromMs: 100, toMs: 600 }], 50));
  fc.assert(
    fc.property(nodeRows(12), fc.nat({ max: 500 }), fc.integer({ min: 10, max: 2000 }), folds, (rows, fromMs, spanMs, given) => {
      const table = tableOf(rows);
      const buckets = { fromMs, toMs: fromMs + spanMs, count: 7, ...(given && { folds: given }) };
      const nowMs = 2500;
      const activity = countActivity(table, allRows(rows.length), nowMs, buckets);
      const fold = (ms: number): number => given?.fold(ms) ?? ms;
      for (let bucket = 0; bucket < buckets.count; bucket++) {
        const start = fromMs + (spanMs * bucket) / buckets.count;
        const width = spanMs / buckets.count;
        const share = (a: number, b: number): number => Math.max(Math.min(fold(b), start + width) - Math.max(fold(a), start), 0) / width;
        const ends = rows.map(({ ended }) => Math.min(ended ?? nowMs, nowMs));
        const queued = rows.reduce((sum, row, at) => sum + share(row.queued, Math.min(row.started ?? nowMs, ends[at] ?? 0)), 0);
        const ran = rows.reduce((sum, row, at) => sum + share(Math.min(row.started ?? nowMs, ends[at] ?? 0), ends[at] ?? 0), 0);
        expect(activity.queued[bucket]).toBeCloseTo(queued, 4);
        expect((activity.running[bucket] ?? 0) + (activity.succeeding[bucket] ?? 0) + (activity.failing[bucket] ?? 0)).toBeCloseTo(ran, 4);
      }
    }),
  );
});

test("failures are counted where they end", () => {
  const failed = (key: number, ended: number) => nodeRow({ key, phase: 5, ended });
  const table = tableOf([failed(1, 0), failed(2, 10), failed(3, 19), failed(4, 20), failed(5, 21), nodeRow({ key: 6, ended: 5 })]);
  expect([...countActivity(table, allRows(6), 30, { fromMs: 0, toMs: 20, count: 2 }).failures]).toEqual([1, 3]);
});

test("folded time is monotone, and unfolds to itself", () => {
  const gaps = fc.array(fc.tuple(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 20, max: 500 })), { maxLength: 5 });
  fc.assert(
    fc.property(gaps, fc.nat({ max: 4000 }), fc.integer({ min: 1, max: 19 }), (lengths, timeMs, foldedMs) => {
      let at = 0;
      const stretches = lengths.map(([busy, idle]) => {
        const fromMs = at + busy;
        at = fromMs + idle;
        return { fromMs, toMs: at };
      });
      const folds = new TimeFolds(stretches, foldedMs);
      expect(folds.unfold(folds.fold(timeMs))).toBeCloseTo(timeMs, 6);
      expect(folds.fold(timeMs + 1)).toBeGreaterThan(folds.fold(timeMs));
      expect(folds.fold(Number.POSITIVE_INFINITY)).toBe(Number.POSITIVE_INFINITY);
      expect(folds.fold(10_000)).toBe(10_000 - lengths.reduce((sum, [, idle]) => sum + idle - foldedMs, 0));
    }),
  );
});

test("the critical path goes back from the node that ended last, and into nodes with children", () => {
  const node = (key: number, queued: number, ended: number | undefined, parent = 0) =>
    nodeRow({ key, queued, started: queued + 1, ended, parent });
  const rows = [
    node(1, 0, 50),
    node(2, 0, 20),
    node(3, 50, 200),
    node(4, 50, 60),
    node(5, 50, 120, 3),
    node(6, 120, 200, 3),
    node(7, 200, undefined),
  ];
  const table = tableOf([...rows, nodeRow({ key: 8, queued: 200, started: undefined, ended: undefined })]);
  const keys = (nowMs: number) => findCriticalPath(table, buildTree(table), nowMs).map((row) => table.key[row]);
  expect(keys(300)).toEqual([1, 3, 5, 6, 7]);
});
