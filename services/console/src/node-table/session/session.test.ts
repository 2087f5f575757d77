import { expect, test } from "vitest";
import { encodeChunk, type ChunkFields, type NodeRow, nodeRow, SentTexts } from "../wire/chunk.fixture.js";
import { type NodeTableChunk, readChunk } from "../wire/read-chunk.js";
import type { ShownParts, WorkerMessage } from "./protocol.js";
import { type ReadStream, TableSession } from "./session.js";

const CREATED_MS = 1_000_000;
const parts: ShownParts = {
  rows: { from: 0, to: 40 },
  bars: { from: 0, to: 40, level: 0 },
  buckets: { fromMs: 0, toMs: 1000, count: 10 },
  folds: { stretches: [], foldedMs: 0 },
};

/** Session with a stream that the test feeds, and a clock that stands still until it is moved. */
function start() {
  const posted: WorkerMessage[] = [];
  const opened: { path: string; cursor: string; signal: AbortSignal }[] = [];
  let [time, texts] = [CREATED_MS, new SentTexts()];
  let scheduled: (() => void)[] = [];
  let feed: (chunk: NodeTableChunk | Error) => void = () => undefined;
  const read: ReadStream = async function* ({ path, cursor, signal, begin, onState }) {
    opened.push({ path, cursor, signal });
    const arrived: (NodeTableChunk | Error)[] = [];
    let wake = (): void => undefined;
    feed = (chunk) => {
      arrived.push(chunk);
      wake();
    };
    texts = new SentTexts();
    begin();
    onState({ kind: "live" });
    for (;;) {
      const chunk = arrived.shift();
      if (chunk instanceof Error) throw chunk;
      if (chunk === undefined) await new Promise<void>((resolve) => (wake = resolve));
      else yield chunk;
    }
  };
  const session = new TableSession({
    read,
    post: (message) => posted.push(message),
    now: () => time,
    schedule: (run) => scheduled.push(run),
  });
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  const last = <Kind extends WorkerMessage["kind"]>(kind: Kind) =>
    posted.findLast((message): message is WorkerMessage & { kind: Kind } => message.kind === kind);
  const open = (path = "/table", awaitsDraw = false) => session.receive({ kind: "open", path, clockSkewMs: 0, awaitsDraw });
  const arrive = async (rows: NodeRow[], fields: ChunkFields = {}) => {
    feed(readChunk(encodeChunk(rows, { texts, ...fields })));
    await settle();
  };
  /** Moves the clock and runs what is scheduled. */
  const pass = (ms: number) => {
    time += ms;
    const due = scheduled;
    scheduled = [];
    for (const run of due) run();
  };
  const names = () => last("shown")?.shown.rows.map(({ nodeId, state, count }) => nodeId || `${count} ${state}`);
  return { session, posted, opened, last, open, arrive, pass, names, settle, fail: (error: Error) => feed(error) };
}

const execution = { closure: { createdAt: { seconds: BigInt(CREATED_MS / 1000) } } };
const running = (key: number, more: Partial<NodeRow> = {}) => nodeRow({ key, phase: 2, ended: undefined, ...more });

test.each(["tells that it has drawn", "does not draw"])(
  "further rows wait for a page that draws the first ones and then %s",
  async (end) => {
    const { session, last, open, arrive, pass, settle } = start();
    session.receive({ kind: "show", parts });
    open("/table", true);
    const nodes = () => last("summary")?.summary.nodes;
    await arrive([running(1)], { reset: true, cursor: "a", execution });
    expect(nodes()).toBe(1);
    await arrive([running(2)], { cursor: "b", complete: true });
    expect(nodes()).toBe(1);
    if (end === "does not draw") pass(150);
    else session.receive({ kind: "drawn" });
    await settle();
    expect(nodes()).toBe(2);
  },
);

test("a page that has drawn before the first rows are read waits for nothing", async () => {
  const { session, last, open, arrive } = start();
  session.receive({ kind: "show", parts });
  open("/table", true);
  session.receive({ kind: "drawn" });
  await arrive([running(1)], { reset: true, cursor: "a", execution });
  await arrive([running(2)], { cursor: "b", complete: true });
  expect(last("summary")?.summary.nodes).toBe(2);
});

test("rows come with the first message, and a change of a row without a new order", async () => {
  const { session, last, open, arrive, pass, names } = start();
  session.receive({ kind: "show", parts });
  open();
  await arrive([running(1), running(2)], { reset: true, cursor: "a", execution });
  pass(0);
  expect([names(), last("summary")?.summary]).toMatchObject([["n1", "n2"], { rows: 2, nodes: 2, isComplete: false, lastMs: 0 }]);
  await arrive([], { cursor: "b", complete: true, counts: { byPhase: [0, 0, 2] } });
  const { version, counts } = last("summary")?.summary ?? {};
  expect(counts).toEqual({ byPhase: [0, 0, 2], cached: 0, retrying: 0 });
  await arrive([running(2, { attempts: 2 })], { cursor: "c" });
  pass(100);
  expect(last("shown")?.shown).toMatchObject({
    version,
    rows: [{ attempts: 1 }, { attempts: 2, endedMs: undefined }],
    bars: { ended: Float64Array.of(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY) },
  });
  await arrive([nodeRow({ key: 1, queued: 10, started: 20, ended: 50 })], { cursor: "d" });
  pass(300);
  expect(last("shown")?.shown).toMatchObject({
    version: (version ?? 0) + 1,
    rows: [{ nodeId: "n2" }, { nodeId: "n1", state: "succeeded", startedMs: 20, endedMs: 50 }],
  });
  expect(last("summary")?.summary.lastMs).toBe(50);
});

test("gates that wait are told apart from running nodes", async () => {
  const { session, last, open, arrive } = start();
  session.receive({ kind: "show", parts });
  open();
  const gate = running(2, { attempts: 0, flags: 0 });
  await arrive([running(1), gate], { reset: true, cursor: "a", complete: true, execution, counts: { byPhase: [0, 0, 2] } });
  expect(last("summary")?.summary).toMatchObject({ counts: { byPhase: [0, 0, 2] }, waiting: 1 });
  await arrive([nodeRow({ key: 2, attempts: 0, flags: 0 })], { cursor: "b", complete: true, counts: { byPhase: [0, 0, 1, 1] } });
  expect(last("summary")?.summary).toMatchObject({ counts: { byPhase: [0, 0, 1, 1] }, waiting: 0 });
});

test("time stands still at the end of an ended execution from the first rows on", async () => {
  const { session, last, open, arrive, pass } = start();
  session.receive({ kind: "show", parts });
  open();
  const closure = { createdAt: { seconds: 1_000n }, startedAt: { seconds: 1_002n }, duration: { seconds: 5n }, phase: 4 };
  await arrive([nodeRow({ key: 1, queued: 10, ended: 50 })], { reset: true, cursor: "a", execution: { closure } });
  pass(3_600_000);
  expect(last("summary")?.summary).toMatchObject({ isComplete: false, hasEnded: true, lastMs: 7_000 });
  await arrive([nodeRow({ key: 2, ended: 6_990 })], { cursor: "b", complete: true, counts: { byPhase: [0, 0, 0, 2] } });
  expect(last("summary")?.summary).toMatchObject({ isComplete: true, hasEnded: true, lastMs: 6_990 });
});

test("a stream is paused, and continued after its last cursor; an ended one is not", async () => {
  const { session, opened, open, arrive, pass } = start();
  open();
  await arrive([running(1)], { cursor: "a", complete: true });
  session.receive({ kind: "pause" });
  open();
  expect(opened.map(({ cursor, signal }) => [cursor, signal.aborted])).toEqual([
    ["", true],
    ["a", false],
  ]);
  await arrive([nodeRow({ key: 1 })], { cursor: "b", ended: true });
  pass(100);
  open();
  expect(opened.length).toBe(2);
  open("/other");
  expect(opened.at(-1)).toMatchObject({ path: "/other", cursor: "" });
});

test("a table that is read anew replaces the one that is shown when it is complete", async () => {
  const { session, open, arrive, pass, names } = start();
  session.receive({ kind: "show", parts });
  open();
  await arrive([running(1), running(2)], { reset: true, cursor: "a", complete: true });
  await arrive([running(3, { entity: "train" })], { reset: true, cursor: "b" });
  pass(1000);
  expect(names()).toEqual(["n1", "n2"]);
  await arrive([running(4, { entity: "train" })], { cursor: "c", complete: true });
  expect(names()).toEqual(["n3", "n4"]);
});

test("orders, filters, groups and hidden nodes", async () => {
  const { session, last, open, arrive, names } = start();
  session.receive({ kind: "show", parts });
  open();
  const items = Array.from({ length: 201 }, (_, at) =>
    nodeRow({ key: at + 2, parent: 1, phase: at === 7 ? 5 : 3, started: at, ended: at * 3 + 1, entity: at === 9 ? "jobs.last" : "" }),
  );
  await arrive([running(1, { flags: 1 }), ...items], { cursor: "a", complete: true, execution });
  expect([names(), last("shown")?.shown.rows[0]]).toMatchObject([["n1"], { isExpanded: false, count: 201 }]);
  expect(last("shown")?.shown.groups.map(({ place }) => place)).toEqual([0]);
  expect(last("overview")?.overview.activity.failures.reduce((sum, each) => sum + each)).toBe(1);
  session.receive({ kind: "expand", id: "n1", isExpanded: true });
  expect(names()).toEqual(["n1", "1 failed", "200 succeeded"]);
  session.receive({ kind: "reveal", nodeId: "n9" });
  expect(last("revealed")?.place).toBe(2);
  expect(names()?.slice(0, 4)).toEqual(["n1", "1 failed", "n9", "200 succeeded"]);
  session.receive({ kind: "order", order: "slowest" });
  expect([names()?.slice(0, 2), last("shown")?.shown.rows[0]?.isExpanded]).toEqual([["n1", "n202"], undefined]);
  session.receive({ kind: "filter", filter: { text: "LAST" } });
  expect([names(), last("summary")?.summary]).toMatchObject([["n11"], { rows: 1, matches: 1, nodes: 202 }]);
  session.receive({ kind: "reveal", nodeId: "n9" });
  expect(last("revealed")?.place).toBe(-1);
  session.receive({ kind: "order", order: "tree" });
  session.receive({ kind: "trace", isTraced: true });
  expect(last("shown")?.shown.rows.map(({ nodeId, isCritical }) => [nodeId, isCritical])).toEqual([
    ["n1", true],
    ["n11", false],
  ]);
});

test("a stream that fails for good says its code", async () => {
  const { open, last, fail, settle } = start();
  open();
  fail(Object.assign(new Error("no such execution"), { code: 5 }));
  await settle();
  expect(last("failed")).toEqual({ kind: "failed", code: 5, message: "no such execution" });
});
