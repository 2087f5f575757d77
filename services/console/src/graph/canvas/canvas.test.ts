import fc from "fast-check";
import { expect, test } from "vitest";
import { recordingContext } from "../../timeline/canvas/frame.fixture.js";
import { NodeKind } from "../wire/node-graph.js";
import { eachNodeIn } from "../scene/build-grid.js";
import { GRAPH_STATES, NOT_BEGUN } from "../scene/node-phase.js";
import { findByName, findPath, scenePath } from "../scene/paths.js";
import { firstNode, neighbourOf } from "../scene/walk.js";
import { fitCamera, panCamera, revealRect, seenRect, zoomCamera } from "./camera.js";
import { drawGraph } from "./draw-graph.js";
import { drawMinimap } from "./draw-minimap.js";
import type { GraphContext } from "./graph-frame.js";
import { hitAt } from "./hit.js";
import { graphFrame, layeredGraph, sceneOf } from "./scene.fixture.js";

const size = { widthPx: 1000, heightPx: 600, ratio: 1 };
const draw = (...given: Parameters<typeof graphFrame>) => {
  const { context, calls } = recordingContext();
  return { drawn: drawGraph(context as unknown as GraphContext, graphFrame(...given)), calls };
};
const texts = (calls: ReturnType<typeof draw>["calls"]) => calls.filter(({ name }) => name === "fillText").map(({ args }) => args[0]);

test("near, nodes are cards with name and kind, and edges have arrows", () => {
  const scene = sceneOf([
    {
      nodes: [
        { id: "n0", entity: "jobs.fit" },
        { id: "n1", kind: NodeKind.approval },
      ],
      edges: [[0, 1]],
    },
  ]);
  const { drawn, calls } = draw(scene);
  expect(drawn).toEqual({ level: "near", nodes: 2, edges: 1 });
  expect(texts(calls)).toEqual(expect.arrayContaining(["fit", "task · n0", "n1", "approval"]));
  expect(calls.some(({ name }) => name === "bezierCurveTo")).toBe(true);
});

test("nodes that have run show their time and attempts, also in the colour of their state", () => {
  const scene = sceneOf([{ nodes: [{ id: "n0" }] }]);
  scene.states.state[0] = GRAPH_STATES.indexOf("failed");
  [scene.states.started[0], scene.states.ended[0], scene.states.attempts[0]] = [100, 350, 2];
  const { calls } = draw(scene);
  expect(texts(calls)).toEqual(expect.arrayContaining(["250 ms", "task · attempt 2"]));
  expect(calls.some(({ fill }) => fill === "failed")).toBe(true);
});

test("in the middle, edges become straight and then ribbons", () => {
  const few = sceneOf([layeredGraph(30, 30)]);
  const straight = draw(few, { camera: { ...fitCamera(few.scene, size), scale: 0.2, left: 0, top: 0 } });
  expect(straight.drawn.level).toBe("middle");
  expect(straight.calls.some(({ name }) => name === "bezierCurveTo")).toBe(false);
  const many = sceneOf([layeredGraph(50, 60)]);
  const { drawn } = draw(many);
  expect([drawn.level, drawn.nodes]).toEqual(["middle", 3_000]);
  expect(drawn.edges).toBe(many.scene.ribbons.count.length);
  expect(many.scene.ribbons.count.reduce((sum, count) => sum + count, 0)).toBe(49 * 60);
});

test("from far, a drawing of 100,000 nodes has a limited number of squares", { timeout: 60_000 }, () => {
  const scene = sceneOf([layeredGraph(200, 500)]);
  scene.states.density.forEach(({ state }) => state.fill(GRAPH_STATES.indexOf("succeeded")));
  const { drawn, calls } = draw(scene);
  expect(drawn.level).toBe("far");
  expect(drawn.nodes).toBeGreaterThan(1_000);
  expect(drawn.nodes).toBeLessThan(40_000);
  expect(calls.filter(({ name, fill }) => name === "fillRect" && fill === "succeeded")).toHaveLength(drawn.nodes);
  expect(draw(scene, { detail: 0.25 }).drawn.nodes).toBeLessThan(drawn.nodes / 3);
});

test("nodes in a rectangle are found as by looking at all", () => {
  const { scene } = sceneOf([layeredGraph(20, 30)]);
  const point = fc.double({ min: -500, max: 8_000, noNaN: true });
  fc.assert(
    fc.property(point, point, point, point, (a, b, c, d) => {
      const rect = { left: Math.min(a, b), right: Math.max(a, b), top: Math.min(c, d), bottom: Math.max(c, d) };
      const found: number[] = [];
      eachNodeIn(scene, rect, (node) => found.push(node));
      const expected = Array.from({ length: scene.length }, (_, node) => node).filter((node) => {
        const [x, y] = [scene.x[node] ?? 0, scene.y[node] ?? 0];
        const isBeside = x > rect.right || x + (scene.width[node] ?? 0) < rect.left;
        return !isBeside && y <= rect.bottom && y + (scene.height[node] ?? 0) >= rect.top;
      });
      expect(found.sort((one, other) => one - other)).toEqual(expected);
    }),
  );
});

test("a zoom keeps the point under the pointer, and all fits at the least", () => {
  const whole = { totalWidth: 10_000, totalHeight: 2_000 };
  const fit = fitCamera(whole, size);
  expect(seenRect(fit, size).left).toBeLessThan(0);
  const near = zoomCamera(fit, 3, { x: 200, y: 100 }, fit.scale);
  expect(near.left + 200 / near.scale).toBeCloseTo(fit.left + 200 / fit.scale);
  expect(near.top + 100 / near.scale).toBeCloseTo(fit.top + 100 / fit.scale);
  expect(zoomCamera(near, 0.001, { x: 0, y: 0 }, fit.scale).scale).toBe(fit.scale);
  // Some of the scene stays in sight.
  const away = seenRect(panCamera(near, { dxPx: -1e6, dyPx: -1e6 }, whole, size), size);
  expect([away.left < whole.totalWidth, away.top < whole.totalHeight]).toEqual([true, true]);
  const rect = { left: 9_000, top: 1_500, right: 9_100, bottom: 1_550 };
  const seen = seenRect(revealRect(near, rect, size, 0), size);
  expect([seen.left < rect.left, seen.right > rect.right, seen.top < rect.top, seen.bottom > rect.bottom]).toEqual([
    true,
    true,
    true,
    true,
  ]);
});

const NESTED = [
  {
    nodes: [{ id: "n0" }, { id: "n1", kind: NodeKind.workflow, entity: "w", subGraph: 1 }, { id: "n2" }],
    edges: [
      [0, 1],
      [1, 2],
    ] as const,
  },
  { nodes: [{ id: "n0" }, { id: "n1" }] },
];

test("a click finds the innermost node, and the sign that opens one", () => {
  const { scene } = sceneOf(NESTED, new Map([["n1", true]]));
  const camera = { left: 0, top: 0, scale: 1 };
  const at = (path: string, dx: number, dy: number) => {
    const node = findPath(scene, path);
    return hitAt(scene, camera, { x: (scene.x[node] ?? 0) + dx, y: (scene.y[node] ?? 0) + dy });
  };
  expect(at("n1/n0", 5, 5)).toEqual({ node: findPath(scene, "n1/n0"), isTwist: false });
  const outer = findPath(scene, "n1");
  expect(at("n1", (scene.width[outer] ?? 0) - 10, 10)).toEqual({ node: outer, isTwist: true });
  expect(at("n0", -20, 0)).toBeUndefined();
  expect(hitAt(scene, { ...camera, scale: 0.05 }, { x: 1, y: 1 })).toBeUndefined();
});

test("keys lead along edges, and to what is above and below", () => {
  const { scene } = sceneOf([layeredGraph(3, 4)]);
  const frame = graphFrame(sceneOf([layeredGraph(3, 4)]));
  const go = (node: number, ...ways: Parameters<typeof neighbourOf>[3][]) =>
    ways.reduce((from, way) => neighbourOf(scene, frame.adjacency, from, way), node);
  expect(scene.specs[go(firstNode(scene), "right", "right")]).toBe("n8");
  expect(scene.specs[go(firstNode(scene), "down", "right", "down", "up", "left")]).toBe("n1");
  expect(go(firstNode(scene), "left")).toBe(-1);
  expect(go(firstNode(scene), "up")).toBe(-1);
});

test("nodes are found by path and by a part of their name, one after the other", () => {
  const { scene } = sceneOf(NESTED, new Map([["n1", true]]));
  const inner = findPath(scene, "n1/n0");
  expect([scenePath(scene, inner), scene.parent[inner]]).toEqual(["n1/n0", findPath(scene, "n1")]);
  expect([findPath(scene, "n1/n9"), findPath(scene, undefined)]).toEqual([-1, -1]);
  expect(findByName(scene, "N0", -1)).toBe(findPath(scene, "n0"));
  expect(findByName(scene, "n0", findPath(scene, "n0"))).toBe(inner);
  expect([findByName(scene, "none", -1), findByName(scene, " ", -1)]).toEqual([-1, -1]);
});

test("the minimap shows all nodes and what is in sight", () => {
  const { context, calls } = recordingContext();
  const frame = graphFrame(sceneOf([layeredGraph(3, 4)]));
  drawMinimap(context as unknown as GraphContext, { ...frame, view: frame, size: { widthPx: 190, heightPx: 96, ratio: 1 } });
  expect(calls.filter(({ name }) => name === "fillRect")).toHaveLength(12);
  expect(calls.filter(({ name }) => name === "strokeRect")).toHaveLength(1);
  expect(calls.find(({ name }) => name === "fillRect")?.fill).toBe(GRAPH_STATES[NOT_BEGUN]);
});
