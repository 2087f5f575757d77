import { expect, test } from "vitest";
import type { RowView } from "../../node-table/session/protocol.js";
import { durationWords, rowKind, rowName, rowWords, runMs } from "./row-text.js";
import { actOfKey } from "./tree-keys.js";

const texts = { id: "n1", nodeId: "n1", specId: "", task: "", errorCode: "" } as const;
const places = {
  isGroup: false,
  place: 5,
  depth: 1,
  position: 2,
  siblings: 3,
  above: 2,
  isExpanded: undefined,
  isCritical: false,
} as const;
const numbers = { phase: 2, flags: 0, attempts: 1, count: 0, queuedMs: 1000, startedMs: 3000 } as const;
const row = (given: Partial<RowView> = {}): RowView => ({
  ...texts,
  ...places,
  ...numbers,
  state: "running",
  endedMs: undefined,
  ...given,
});

test.each([
  [-5, "0 seconds"],
  [340, "0.3 seconds"],
  [1000, "1 second"],
  [21_600, "22 seconds"],
  [125_000, "2 minutes 5 seconds"],
  [3_600_000, "1 hour"],
  [90_061_000, "1 day 1 hour"],
])("%i ms are %s", (ms, words) => expect(durationWords(ms)).toBe(words));

test("a row says its phase, start and duration", () => {
  const options = { nowMs: 5_000, timeText: (ms: number) => `+${ms}` };
  expect(rowWords(row(), options)).toBe("running, started at +3000, running for 2 seconds");
  expect(rowWords(row({ state: "failed", attempts: 3, errorCode: "OOM", endedMs: 4000 }), options)).toBe(
    "failed, attempt 3, error OOM, started at +3000, took 1 second",
  );
  expect(rowWords(row({ state: "queued", startedMs: undefined }), options)).toBe("queued, queued at +1000, for 4 seconds");
  expect([runMs(row(), 5000), runMs(row({ startedMs: undefined }), 5000), runMs(row(), 10)]).toEqual([2000, 0, 0]);
});

test("a row has a name and a kind", () => {
  expect([
    rowName(row()),
    rowName(row({ specId: "n0" })),
    rowName(row({ task: "jobs.train" })),
    rowName(row({ task: "jobs.map_train_6b3bd0353da5de6e84d7982921ead2b3-arraynode" })),
    rowName(row({ isGroup: true, count: 1806 })),
  ]).toEqual(["n1", "n0", "train", "train", "1,806 running"]);
  const kinds = [
    row(),
    row({ flags: 3, count: 12 }),
    row({ flags: 4 }),
    row({ flags: 8 }),
    row({ state: "waiting" }),
    row({ flags: 1, count: 2 }),
    row({ flags: 1, count: 1 }),
    row({ isGroup: true }),
    row({ task: "jobs.train", specId: "n7" }),
    row({ task: "jobs.train", specId: "train" }),
  ];
  expect(kinds.map((row) => rowKind(row))).toEqual([
    "",
    "dynamic · 12 nodes",
    "map",
    "launch plan",
    "gate",
    "2 nodes",
    "1 node",
    "nodes",
    "n7",
    "",
  ]);
});

test("keys move, open, close and select", () => {
  const act = (key: string, given: Partial<RowView> | undefined = {}, place = 5) =>
    actOfKey(key, { place, row: row({ place, ...given }), rows: 8, rowsOfPage: 4 });
  const moves = ["j", "ArrowDown", "k", "ArrowUp", "PageDown", "PageUp", "Home", "End"].map((key) => act(key));
  expect(moves).toEqual([6, 6, 4, 4, 7, 1, 0, 7].map((place) => ({ kind: "move", place })));
  expect(act("ArrowRight", { isExpanded: false })).toMatchObject({ kind: "expand", isExpanded: true });
  expect(act("ArrowRight", { isExpanded: true })).toEqual({ kind: "move", place: 6 });
  expect(act("ArrowLeft", { isExpanded: true })).toMatchObject({ kind: "expand", isExpanded: false });
  expect([act("ArrowLeft"), act("ArrowLeft", { above: -1 }), act("ArrowRight"), act("x")]).toEqual([
    { kind: "move", place: 2 },
    undefined,
    undefined,
    undefined,
  ]);
  expect([act("Enter"), act("Enter", { isGroup: true, isExpanded: false }), act(" "), act(" ", { isExpanded: true })]).toMatchObject([
    { kind: "select" },
    { kind: "expand", isExpanded: true },
    { kind: "select" },
    { kind: "expand", isExpanded: false },
  ]);
  expect(actOfKey("Enter", { place: 5, row: undefined, rows: 8, rowsOfPage: 4 })).toBeUndefined();
  expect(actOfKey("j", { place: -1, row: undefined, rows: 0, rowsOfPage: 4 })).toBeUndefined();
});
