import fc from "fast-check";
import { expect, test } from "vitest";
import { NodeState } from "../../node-table/table/node-state.js";
import { NOT_BEGUN } from "../scene/node-phase.js";
import { countDensity, shownState } from "./density.js";

test("each level counts the nodes of its cells", () => {
  const node = fc.record({ x: fc.nat({ max: 9_999 }), y: fc.nat({ max: 4_999 }), state: fc.nat({ max: NOT_BEGUN }) });
  fc.assert(
    fc.property(fc.array(node, { maxLength: 200 }), (nodes) => {
      const levels = countDensity({
        x: Float64Array.from(nodes, ({ x }) => x),
        y: Float64Array.from(nodes, ({ y }) => y),
        state: Uint8Array.from(nodes, ({ state }) => state),
        width: 10_000,
        height: 5_000,
        cellWidth: 20,
        cellHeight: 10,
      });
      expect(levels.length).toBeGreaterThanOrEqual(4);
      for (const [at, level] of levels.entries()) {
        expect([level.cellWidth, level.cellHeight]).toEqual([20 * 2 ** at, 10 * 2 ** at]);
        const found = new Map<string, number[]>();
        for (const { x, y, state } of nodes) {
          const key = `${Math.floor(x / level.cellWidth)} ${Math.floor(y / level.cellHeight)}`;
          const counts = found.get(key) ?? Array<number>(NOT_BEGUN + 1).fill(0);
          counts[state] = (counts[state] ?? 0) + 1;
          found.set(key, counts);
        }
        const read = [...level.count].map((count, cell) => `${level.column[cell]} ${level.row[cell]} ${count} ${level.state[cell]}`);
        const expected = [...found].map(([key, counts]) => `${key} ${counts.reduce((sum, count) => sum + count, 0)} ${shownState(counts)}`);
        expect(read.sort()).toEqual(expected.sort());
      }
    }),
  );
});

test("one failed or running node colours its cell, else most nodes do", () => {
  const counts = (of: Readonly<Record<number, number>>) => Array.from({ length: NOT_BEGUN + 1 }, (_, state) => of[state] ?? 0);
  expect(shownState(counts({ [NodeState.succeeded]: 500, [NodeState.failed]: 1, [NodeState.running]: 9 }))).toBe(NodeState.failed);
  expect(shownState(counts({ [NodeState.succeeded]: 500, [NodeState.running]: 1 }))).toBe(NodeState.running);
  expect(shownState(counts({ [NodeState.succeeded]: 5, [NOT_BEGUN]: 6 }))).toBe(NOT_BEGUN);
  expect(shownState(counts({ [NodeState.succeeded]: 5, [NodeState.cached]: 2 }))).toBe(NodeState.succeeded);
});
