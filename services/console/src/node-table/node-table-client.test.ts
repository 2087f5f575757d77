import { expect, test } from "vitest";
import { connectNodeTable, type NodeTableWorker } from "./node-table-client.js";
import { sliceBars } from "./session/bar-slice.js";
import type { PageMessage, ShownParts } from "./session/protocol.js";
import { TableView } from "./session/table-view.js";

test("a page asks for the parts that it shows last, once the worker has answered", () => {
  const sent: PageMessage[] = [];
  const worker: NodeTableWorker = { onmessage: null, postMessage: (message) => sent.push(message), terminate: () => undefined };
  const table = connectNodeTable(worker);
  const partsAt = (from: number): ShownParts => ({
    rows: { from, to: from + 9 },
    bars: { from, to: from + 9, level: 0 },
    buckets: { fromMs: 0, toMs: 0, count: 0 },
    folds: { stretches: [], foldedMs: 0 },
  });
  const bars = sliceBars(new TableView(), partsAt(0).bars);
  const answer = () =>
    worker.onmessage?.({ data: [{ kind: "shown", shown: { version: 1, rows: [], bars, groups: [], buckets: partsAt(0).buckets } }] });
  const asked = () => sent.map((message) => (message.kind === "show" ? message.parts.rows.from : message.kind));
  for (const from of [0, 1, 2]) table.show(partsAt(from));
  expect(asked()).toEqual([0]);
  answer();
  expect(asked()).toEqual([0, 2]);
  answer();
  table.show(partsAt(3));
  expect(asked()).toEqual([0, 2, 3]);
});

test("a table that has failed is read again as it was opened", () => {
  const sent: PageMessage[] = [];
  const worker: NodeTableWorker = { onmessage: null, postMessage: (message) => sent.push(message), terminate: () => undefined };
  const table = connectNodeTable(worker);
  table.open({ path: "p", origin: "http://o", clockSkewMs: 5, isFollowed: true });
  worker.onmessage?.({ data: [{ kind: "failed", code: 13, message: "broken" }] });
  expect(table.failure.get()).toEqual({ code: 13, message: "broken" });
  table.retry();
  expect(table.failure.get()).toBeUndefined();
  expect(sent).toEqual([0, 1].map(() => ({ kind: "open", path: "p", origin: "http://o", clockSkewMs: 5, isFollowed: true })));
});
