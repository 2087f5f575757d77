import fc from "fast-check";
import { expect, test } from "vitest";
import { TimeFolds } from "../../node-table/measure/time-folds.js";
import type { OverviewCounts } from "../../node-table/session/protocol.js";
import { NodeState } from "../../node-table/table/node-state.js";
import { drawBars } from "./draw-bars.js";
import { drawCursor } from "./draw-cursor.js";
import { drawFrame } from "./draw-frame.js";
import { drawOverview, greatestRunning, overviewColumns } from "./draw-overview.js";
import { colours, frameOf, manyNodes, recordingContext } from "./frame.fixture.js";
import { fitRows, levelOf, MAX_FRAME_BARS, placeAt, ROW_PX, scrollRows, yOf, zoomRows } from "./row-viewport.js";

const ROWS = 100_000;
const many = manyNodes(ROWS);
const heightPx = fc.integer({ min: 50, max: 4000 });
const share = fc.double({ min: 0, max: 1, noNaN: true });

test("a frame draws at most 800 bars of 100,000 rows, and every row in sight", () => {
  fc.assert(
    fc.property(heightPx, share, share, (height, zoom, scroll) => {
      const whole = fitRows(ROWS, height);
      const zoomed = zoomRows(whole, (ROW_PX / whole.rowPx) ** zoom, 0, ROWS);
      const viewport = scrollRows(zoomed, scroll * ROWS, ROWS);
      const { context, calls } = recordingContext();
      const bars = drawBars(context, frameOf(many, viewport));
      expect(bars).toBeLessThanOrEqual(MAX_FRAME_BARS);
      expect(calls.filter(({ name }) => name === "rect" || name === "roundRect" || name === "fillRect").length).toBeLessThanOrEqual(
        2 * MAX_FRAME_BARS,
      );
      const rowsOfBar = 2 ** levelOf(viewport);
      expect(bars * rowsOfBar).toBeGreaterThanOrEqual(Math.min(Math.floor(height / viewport.rowPx) - rowsOfBar, ROWS));
      expect(rowsOfBar === 1 || rowsOfBar * viewport.rowPx >= 2).toBe(true);
    }),
    { numRuns: 40 },
  );
});

test("the row under a pointer is the row drawn there", () => {
  fc.assert(
    fc.property(heightPx, share, share, (height, zoom, at) => {
      const viewport = zoomRows(fitRows(ROWS, height), 1 + zoom * 1000, height * at, ROWS);
      const place = placeAt(viewport, height * at * 0.99, ROWS);
      expect(yOf(viewport, place)).toBeLessThanOrEqual(height * at * 0.99 + 1e-3);
      expect(yOf(viewport, place + 1)).toBeGreaterThan(height * at * 0.99 - 1e-3);
      expect([placeAt(viewport, -1e9, ROWS), placeAt(viewport, 1e9, ROWS)]).toEqual([-1, -1]);
    }),
  );
});

/** Draws four rows of the tree's height over 1000 ms in 1000 px. */
function drawRows(change: (view: ReturnType<typeof manyNodes>) => void, given: Parameters<typeof frameOf>[2] = {}) {
  const view = manyNodes(4);
  for (let row = 0; row < 4; row++) [view.table.queued[row], view.table.started[row], view.table.ended[row]] = [0, 100 * (row + 1), 500];
  change(view);
  view.rebuild(1000);
  const { context, calls } = recordingContext();
  drawFrame(
    context,
    frameOf(view, { top: 0, rowPx: ROW_PX, heightPx: 4 * ROW_PX }, { window: { fromMs: 0, toMs: 1000 }, nowMs: 800, ...given }),
  );
  return calls;
}

test("bars are thin while queued, full while running, hollow if cached, and go on until now", () => {
  const calls = drawRows(({ table }) => {
    table.state[1] = NodeState.cached;
    [table.state[2], table.ended[2], table.attempts[2]] = [NodeState.running, Number.POSITIVE_INFINITY, 2];
    [table.state[3], table.started[3], table.ended[3]] = [NodeState.queued, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  });
  const bars = calls.filter(({ name }) => name === "roundRect").map(({ args: [x, , width], fill }) => [fill, x, width]);
  expect(bars).toEqual([
    ["running", 300, 500],
    ["succeeded", 100, 400],
    ["cached", 200.5, 299],
  ]);
  const thin = calls.filter(({ name, alpha }) => name === "fillRect" && alpha === 0.55).map(({ args: [x, , width] }) => [x, width]);
  expect(thin).toEqual([
    [0, 100],
    [0, 200],
    [0, 300],
    [0, 800],
  ]);
  expect(calls.filter(({ name }) => name === "stroke").length).toBe(1);
  expect(calls.findLast(({ fill, name }) => fill === "failed" && name === "fillRect")?.args[0]).toBe(296);
});

test("a frame shows selection, labels, critical path, now and folds", () => {
  const folds = new TimeFolds([{ fromMs: 600, toMs: 700 }], 10);
  const calls = drawRows(() => undefined, {
    selectedPlace: 2,
    labels: new Map([[0, "400 ms"]]),
    criticalPlaces: new Set([1]),
    isLive: true,
    folds,
  });
  const filled = (colour: string) => calls.filter(({ name, fill }) => name === "fillRect" && fill === colour).map(({ args }) => args);
  expect(filled("selected")).toEqual([[0, 54, 1000, 27]]);
  expect(filled("accent")).toEqual([
    [0, 50, 500, 2],
    [710, 0, 1, 108],
  ]);
  expect(filled("line")[0]).toEqual([600, 0, 10, 108]);
  expect(calls.find(({ name }) => name === "fillText")?.args).toEqual(["400 ms", 506, 13.5]);
  expect(calls[0]).toMatchObject({ name: "setTransform", args: [2, 0, 0, 2, 0, 0] });
});

test("groups show their nodes over time, the most at full height", () => {
  const series = (...values: number[]) => Float32Array.from(values);
  const activity = { queued: series(0, 2), running: series(0, 0), succeeding: series(4, 1), failing: series(0, 1), failures: series(0, 1) };
  const calls = drawRows(() => undefined, {
    groups: [{ place: 1, activity }],
    buckets: { fromMs: 0, toMs: 1000, count: 2 },
    activePlaces: new Set([1]),
  });
  const rects = calls.filter(({ name }) => name === "rect").map(({ args, fill }) => [fill, ...args]);
  expect(rects).toEqual([
    ["succeeded", 0, 48 - 16, 500, 16],
    ["succeeded", 500, 48 - 4, 500, 4],
    ["failed", 500, 48 - 8, 500, 4],
    ["queued", 500, 48 - 16, 500, 8],
  ]);
});

test("the overview shows each column's most nodes and all failures", () => {
  const zero = new Float32Array(8);
  const counts: OverviewCounts = {
    fromMs: 0,
    toMs: 800,
    activity: {
      queued: zero,
      running: Float32Array.of(1, 5, 0, 0, 2, 2, 0.4, 0),
      succeeding: zero,
      failing: zero,
      failures: Float32Array.of(1, 1, 0, 0, 0, 0, 0, 3),
    },
  };
  const frame = {
    counts,
    limits: { fromMs: 0, toMs: 800 },
    window: { fromMs: 200, toMs: 400 },
    folds: new TimeFolds([], 0),
    ticks: [],
    colours,
    widthPx: 8,
    heightPx: 62,
    ratio: 1,
  };
  expect(overviewColumns(frame).map(({ running, failures }) => [running, failures])).toEqual([
    [5, 2],
    [0, 0],
    [2, 0],
    [0.4000000059604645, 3],
  ]);
  expect(greatestRunning(counts)).toBe(5);
  const { context, calls } = recordingContext();
  drawOverview(context, frame);
  const accent = calls.filter(({ fill, name }) => name === "fillRect" && fill === "accent").map(({ args: [x] }) => x);
  expect(accent).toEqual([2, 3]);
  expect(calls.filter(({ name, fill }) => name === "rect" && fill === "failed").length).toBe(2);
});

test("the cursor marks its row and time, and the rows of the tree", () => {
  const { context, calls } = recordingContext();
  const frame = { widthPx: 100, heightPx: 100, ratio: 1, viewport: { top: 0, rowPx: 1, heightPx: 100 }, colours };
  drawCursor(context, { ...frame, pointer: undefined, treeRows: undefined });
  expect(calls.map(({ name }) => name)).toEqual(["setTransform", "clearRect"]);
  drawCursor(context, { ...frame, pointer: { x: 7.2, place: 5 }, treeRows: { from: 10, to: 40 } });
  expect(calls.filter(({ name }) => name === "fillRect").map(({ args, fill }) => [fill, ...args])).toEqual([
    ["accent", 0, 10, 3, 30],
    ["hover", 0, 5, 100, 1],
    ["line", 7, 0, 1, 100],
  ]);
});
