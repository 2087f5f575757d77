// Prints how long the node table of a large execution takes, from its messages to a frame.
//   node services/console/bench/node-table.mjs [NODES]     default 100000; packages must be built
import "./source-hooks.mjs";
import { performance } from "node:perf_hooks";

const { encodeChunk, nodeRow, SentTexts } = await import("../src/node-table/wire/chunk.fixture.ts");
const { readChunk } = await import("../src/node-table/wire/read-chunk.ts");
const { applyChunk, ConnectionTexts } = await import("../src/node-table/table/apply-chunk.ts");
const { NodeTable } = await import("../src/node-table/table/node-table.ts");
const { buildTree } = await import("../src/node-table/order/tree.ts");
const { listByStart, listSlowest, listTree } = await import("../src/node-table/order/list-rows.ts");
const { matchRows } = await import("../src/node-table/order/filter.ts");
const { allRows } = await import("../src/node-table/order/sort-rows.ts");
const { buildPyramid, patchPyramid } = await import("../src/node-table/measure/pyramid.ts");
const { countActivity } = await import("../src/node-table/measure/activity.ts");
const { findCriticalPath } = await import("../src/node-table/measure/critical-path.ts");

const nodes = Number(process.argv[2] ?? 100_000);
const ROWS_OF_MESSAGE = 4096;
const RUNS = 7;
const NOW_MS = 10_000_000;

/** Nodes of a run: a few tasks, a dynamic one with half of the nodes, and a chain of stages. */
function rowsOfRun() {
  return Array.from({ length: nodes }, (_, at) => {
    const queued = Math.floor((at / nodes) * 3_600_000 + (at % 97) * 13);
    const isWaiting = at > nodes * 0.97;
    const isRunning = !isWaiting && at % 50 === 7;
    const started = queued + 200 + (at % 31) * 40;
    return nodeRow({
      key: 5_000_000 + at * 3,
      id: at < 10 ? `n${at}` : `n${at % 10}-0-dn${at}`,
      parent: at < 10 ? 0 : 5_000_000 + (at % 10) * 3,
      phase: isWaiting ? 1 : isRunning ? 2 : at % 211 === 0 ? 5 : 3,
      entity: `forecasts.pipelines.task_${at % 12}`,
      spec: `dn${at % 40}`,
      error: at % 211 === 0 ? "USER:OOMKilled" : "",
      queued,
      started: isWaiting ? undefined : started,
      ended: isWaiting || isRunning ? undefined : started + 900 + ((at * 7919) % 60_000),
    });
  });
}

const rows = rowsOfRun();
const texts = new SentTexts();
const messages = Array.from({ length: Math.ceil(nodes / ROWS_OF_MESSAGE) }, (_, at) =>
  encodeChunk(rows.slice(at * ROWS_OF_MESSAGE, (at + 1) * ROWS_OF_MESSAGE), { texts }),
);
const bytes = messages.reduce((sum, { length }) => sum + length, 0);
process.stdout.write(`${nodes} nodes, ${messages.length} messages, ${(bytes / 1e6).toFixed(2)} MB\n`);

/** Prints the first time and the medians of time and processor, and returns the last result. */
function measure(name, run) {
  const [times, processor] = [[], []];
  let result;
  for (let at = 0; at < RUNS; at++) {
    const [start, used] = [performance.now(), process.cpuUsage()];
    result = run();
    const { user, system } = process.cpuUsage(used);
    times.push(performance.now() - start);
    processor.push((user + system) / 1000);
  }
  const median = (values) =>
    values
      .toSorted((a, b) => a - b)
      [RUNS >> 1].toFixed(2)
      .padStart(7);
  const first = times[0].toFixed(1).padStart(7);
  process.stdout.write(`${name.padEnd(44)} first ${first} ms, median ${median(times)} ms, of the processor ${median(processor)} ms\n`);
  return result;
}

measure("read the messages", () => messages.map(readChunk));
const table = measure("read the messages and apply them", () => {
  const made = new NodeTable();
  const connection = new ConnectionTexts(made);
  for (const message of messages) applyChunk(made, connection, readChunk(message));
  return made;
});
const tree = measure("build the tree", () => buildTree(table));
const open = new Map(Array.from({ length: 10 }, (_, at) => [`n${5_000_000 + at * 3}`, true]));
for (let at = 0; at < 10; at++) for (let state = 0; state < 8; state++) open.set(`g${5_000_000 + at * 3}:${state}`, true);
measure("list the tree, all closed", () => listTree({ table, tree, expansion: new Map([["n5000000", false]]) }));
const order = measure("list the tree, all open", () => listTree({ table, tree, expansion: open }));
const pyramid = measure("build the pyramid", () => buildPyramid(table, order));
measure("list by start", () => listByStart(table));
measure("list the slowest first", () => listSlowest(table, NOW_MS));
measure("patch the pyramid, 2000 changes", () => {
  for (let at = 0; at < 2000; at++) patchPyramid(pyramid, (at * 49) % order.length, { table, order });
});
measure("filter by text", () => matchRows(table, { text: "dn99" }));
measure("filter by state and code", () => matchRows(table, { states: ["failed"], errorCode: "USER:OOMKilled" }));
measure("count activity of all nodes, 1024 buckets", () =>
  countActivity(table, allRows(table.length), NOW_MS, { fromMs: 0, toMs: 3_700_000, count: 1024 }),
);
measure("find the critical path", () => findCriticalPath(table, tree, NOW_MS));

const { TableView } = await import("../src/node-table/session/table-view.ts");
const { sliceBars } = await import("../src/node-table/session/bar-slice.ts");
const { rowViews } = await import("../src/node-table/session/row-view.ts");
const { frameOf } = await import("../src/timeline/canvas/frame.fixture.ts");
const { drawFrame } = await import("../src/timeline/canvas/draw-frame.ts");
const { fitRows, levelOf, placesAround, ROW_PX, zoomRows } = await import("../src/timeline/canvas/row-viewport.ts");

const view = new TableView();
view.replace(table);
view.setOrder("start");
measure("show the table: tree, order and pyramid", () => view.rebuild(NOW_MS));
measure("slice rows and bars of the tree's height", () => [
  rowViews(view, { from: 50_000, to: 50_090 }),
  sliceBars(view, { from: 50_000, to: 50_090, level: 0 }),
]);
const HEIGHT_PX = 800;
const whole = fitRows(view.order.length, HEIGHT_PX);
measure("slice the bars of all rows", () => sliceBars(view, { ...placesAround(whole), level: levelOf(whole) }));
const ignore = () => undefined;
const methods = [
  "setTransform",
  "clearRect",
  "fillRect",
  "beginPath",
  "rect",
  "roundRect",
  "moveTo",
  "lineTo",
  "fill",
  "stroke",
  "fillText",
];
const context = Object.fromEntries(methods.map((name) => [name, ignore]));
for (let rowPx = whole.rowPx; rowPx < ROW_PX * 2; rowPx *= 12) {
  const viewport = zoomRows(whole, rowPx / whole.rowPx, HEIGHT_PX / 2, view.order.length);
  const frame = frameOf(view, viewport, { window: { fromMs: 0, toMs: 3_700_000 }, nowMs: NOW_MS });
  measure(`select and place the bars of ${Math.round(HEIGHT_PX / viewport.rowPx)} rows`, () => drawFrame(context, frame));
}
