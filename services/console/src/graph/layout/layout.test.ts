import fc from "fast-check";
import { expect, test } from "vitest";
import { adjacencyOf } from "./adjacency.js";
import { layOut, rankNodes } from "./layout.js";
import { spreadColumn } from "./spread.js";

/** Edges of a graph without circles, and the sizes of its nodes. */
const graphs = fc.integer({ min: 2, max: 60 }).chain((length) => {
  const pair = fc.tuple(fc.nat({ max: length - 1 }), fc.nat({ max: length - 1 })).filter(([a, b]) => a !== b);
  const size = fc.double({ min: 1, max: 400, noNaN: true });
  return fc.record({
    length: fc.constant(length),
    pairs: fc.array(
      pair.map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const),
      { maxLength: 120 },
    ),
    sizes: fc.array(fc.tuple(size, size), { minLength: length, maxLength: length }),
  });
});

/** Graphs with layers that are wrapped. */
const fans = fc.tuple(fc.integer({ min: 100, max: 400 }), fc.boolean()).map(([leaves, isJoined]) => ({
  length: leaves + 2,
  pairs: Array.from({ length: leaves }, (_, leaf) => [[0, leaf + 1] as const, [leaf + 1, leaves + 1] as const]).flatMap(([out, back]) =>
    isJoined ? [out, back] : [out],
  ) as (readonly [number, number])[],
  sizes: Array.from({ length: leaves + 2 }, () => [168, 46] as [number, number]),
}));

const edgesOf = (pairs: readonly (readonly [number, number])[]) => ({ from: pairs.map(([from]) => from), to: pairs.map(([, to]) => to) });

test("no edge leads backwards, and no nodes overlap", () => {
  fc.assert(
    fc.property(fc.oneof(graphs, fans), ({ length, pairs, sizes }) => {
      const [width, height] = [Float64Array.from(sizes, ([wide]) => wide), Float64Array.from(sizes, ([, high]) => high)];
      const { places } = layOut(rankNodes(length, edgesOf(pairs)), { width, height });
      const box = (node: number) => {
        const [x, y] = [places.x[node] ?? Number.NaN, places.y[node] ?? Number.NaN];
        return { x, y, right: x + (width[node] ?? 0), bottom: y + (height[node] ?? 0) };
      };
      for (const [from, to] of pairs) expect(box(from).right).toBeLessThan(box(to).x);
      for (let a = 0; a < length; a++) {
        const one = box(a);
        expect(one.x).toBeGreaterThanOrEqual(0);
        expect(one.y).toBeGreaterThanOrEqual(-1e-6);
        expect(one.right).toBeLessThanOrEqual(places.totalWidth + 1e-6);
        expect(one.bottom).toBeLessThanOrEqual(places.totalHeight + 1e-6);
        for (let b = 0; b < a; b++) {
          const other = box(b);
          const isApart = one.x >= other.right || other.x >= one.right || one.y >= other.bottom - 1e-6 || other.y >= one.bottom - 1e-6;
          expect(isApart || [a, b, one, other]).toBe(true);
        }
      }
    }),
    { numRuns: 60 },
  );
});

test("each node is in the layer after the last node before it, sources just before what needs them", () => {
  fc.assert(
    fc.property(graphs, ({ length, pairs }) => {
      const { layers } = rankNodes(length, edgesOf(pairs));
      const longest = Array<number>(length).fill(0);
      for (let pass = 0; pass < length; pass++)
        for (const [from, to] of pairs) longest[to] = Math.max(longest[to] ?? 0, (longest[from] ?? 0) + 1);
      for (let node = 0; node < length; node++) {
        const next = pairs.filter(([from]) => from === node).map(([, to]) => longest[to] ?? 0);
        const isSource = pairs.every(([, to]) => to !== node);
        expect(layers.layerOf[node]).toBe(isSource && next.length > 0 ? Math.min(...next) - 1 : longest[node]);
      }
    }),
  );
});

test("circles have layers, and the node after a failure is in the last", () => {
  const ranking = rankNodes(
    4,
    edgesOf([
      [0, 1],
      [1, 2],
      [2, 1],
    ]),
    3,
  );
  expect([...ranking.layers.layerOf]).toEqual([0, 1, 2, 2]);
});

test("ribbons bundle each edge once", () => {
  fc.assert(
    fc.property(graphs, ({ length, pairs, sizes }) => {
      const [width, height] = [Float64Array.from(sizes, ([wide]) => wide), Float64Array.from(sizes, ([, high]) => high)];
      const { ribbons } = layOut(rankNodes(length, edgesOf(pairs)), { width, height });
      expect(ribbons.count.reduce((sum, count) => sum + count, 0)).toBe(pairs.length);
      expect(ribbons.shape.every(Number.isFinite)).toBe(true);
    }),
  );
});

test("nodes that follow one another are in line, and crossings are undone", () => {
  const chain = rankNodes(
    5,
    edgesOf([
      [0, 1],
      [1, 2],
      [2, 3],
      [3, 4],
    ]),
  );
  const sizes = { width: new Float64Array(5).fill(100), height: new Float64Array(5).fill(40) };
  expect(new Set(layOut(chain, sizes).places.y).size).toBe(1);
  // 0 and 1 lead to 3 and 2: their order in the second layer is that of the first.
  const crossed = rankNodes(
    4,
    edgesOf([
      [0, 3],
      [1, 2],
    ]),
  );
  expect([...crossed.order.nodes]).toEqual([0, 1, 3, 2]);
});

test("boxes keep their order and gaps, and move no further than they must", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.double({ min: 1, max: 50, noNaN: true }), fc.double({ min: -500, max: 500, noNaN: true })), {
        minLength: 1,
        maxLength: 12,
      }),
      (boxes) => {
        const [heights, wishes] = [Float64Array.from(boxes, ([high]) => high), Float64Array.from(boxes, ([, wish]) => wish)];
        const gap = 5;
        const centres = spreadColumn({ heights, wishes, gap });
        const least = (box: number): number => ((heights[box - 1] ?? 0) + (heights[box] ?? 0)) / 2 + gap;
        for (let box = 1; box < boxes.length; box++)
          expect((centres[box] ?? 0) - (centres[box - 1] ?? 0)).toBeGreaterThanOrEqual(least(box) - 1e-9);
        const cost = (at: ArrayLike<number>): number => boxes.reduce((sum, [, wish], box) => sum + ((at[box] ?? 0) - wish) ** 2, 0);
        // No box can move towards its wish, alone or with those that touch it.
        for (let first = 0; first < boxes.length; first++)
          for (let end = first + 1; end <= boxes.length; end++)
            for (const step of [-1e-3, 1e-3]) {
              const moved = centres.map((centre, box) => (box >= first && box < end ? centre + step : centre));
              const isAllowed = boxes.every((_, box) => box === 0 || (moved[box] ?? 0) - (moved[box - 1] ?? 0) >= least(box) - 1e-9);
              expect(!isAllowed || cost(moved) >= cost(centres) - 1e-6).toBe(true);
            }
      },
    ),
  );
});

test("neighbours are those of the edges in both directions", () => {
  const { down, up } = adjacencyOf(
    3,
    edgesOf([
      [0, 1],
      [0, 2],
      [1, 2],
    ]),
  );
  expect([[...down.offset], [...down.nodes], [...up.offset], [...up.nodes]]).toEqual([
    [0, 2, 3, 3],
    [1, 2, 2],
    [0, 0, 1, 3],
    [0, 0, 1],
  ]);
});
