import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeChunk, type NodeRow, nodeRow, SentTexts } from "../wire/chunk.fixture.js";
import { readChunk } from "../wire/read-chunk.js";
import { MalformedMessageError } from "../../wire/read-varints.js";
import { applyChunk, ConnectionTexts } from "./apply-chunk.js";
import { NodeTable } from "./node-table.js";

/** Indexes rows by key: two tables may have received the same rows in different orders. */
function rowsOf(table: NodeTable): Record<number, NodeRow> {
  const time = (value: number | undefined): number | undefined => (value === Number.POSITIVE_INFINITY ? undefined : value);
  const found: Record<number, NodeRow> = {};
  for (let row = 0; row < table.length; row++) {
    const value = (name: "key" | "parent" | "phase" | "flags" | "cache" | "attempts" | "queued"): number => table[name][row] ?? Number.NaN;
    const text = (name: "entity" | "error" | "spec"): string => table.textOf(table[name][row] ?? Number.NaN);
    found[value("key")] = {
      key: value("key"),
      id: table.idOf(row),
      parent: value("parent"),
      phase: value("phase"),
      flags: value("flags"),
      cache: value("cache"),
      attempts: value("attempts"),
      queued: value("queued"),
      started: time(table.started[row]),
      ended: time(table.ended[row]),
      entity: text("entity"),
      error: text("error"),
      spec: text("spec"),
    };
  }
  return found;
}

const word = fc.constantFrom("", "a", "load", "train", "evaluate");
const change = fc.record({
  key: fc.integer({ min: 1, max: 12 }),
  phase: fc.nat({ max: 10 }),
  attempts: fc.nat({ max: 3 }),
  started: fc.option(fc.nat({ max: 100 }), { nil: undefined }),
  ended: fc.option(fc.nat({ max: 100 }), { nil: undefined }),
  entity: word,
  error: word,
  spec: word,
});
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;

/** A connection: what it sends, in which messages, and where it breaks. */
const connection = fc.record({
  /** The server has forgotten the cursor and sends the complete table. */
  isReset: fc.boolean(),
  /** Share of the log that the server has by then. */
  progress: fc.double({ min: 0, max: 1, noNaN: true }),
  /** Changes before the cursor that the server sends again. */
  repeated: fc.nat({ max: 10 }),
  seed: fc.nat(),
  breaksAfter: fc.nat({ max: 8 }),
  rowsOfMessage: fc.integer({ min: 1, max: 5 }),
});
type Connection = typeof connection extends fc.Arbitrary<infer Value> ? Value : never;

/** Node after a change; its id is the same for ever. */
const rowAfter = (change: Change): NodeRow => nodeRow({ ...change, id: `node-${change.key * 7}`, parent: change.key - 1 });

/** Rows as of a change of the log, in an order that the seed gives. */
function tableAt(log: readonly Change[], length: number, seed: number): NodeRow[] {
  const rows = new Map(log.slice(0, length).map((each) => [each.key, rowAfter(each)]));
  return [...rows.values()].sort((a, b) => ((a.key * (seed + 1)) % 13) - ((b.key * (seed + 1)) % 13));
}

/** Reads the log through connections that break; the last one reads to its end. */
function readThrough(log: readonly Change[], connections: readonly Connection[]): NodeTable {
  let [table, cursor] = [new NodeTable(), -1];
  for (const [index, { isReset, progress, repeated, seed, breaksAfter, rowsOfMessage }] of connections.entries()) {
    const isLast = index === connections.length - 1;
    const isComplete = isReset || cursor < 0;
    const [start, end] = [Math.max(cursor - repeated, 0), isLast ? log.length : Math.max(cursor, Math.floor(log.length * progress))];
    const rows = isComplete ? tableAt(log, end, seed) : log.slice(start, end).map(rowAfter);
    if (isComplete) table = new NodeTable();
    const [sent, texts] = [new SentTexts(), new ConnectionTexts(table)];
    const messages = Array.from({ length: Math.ceil(rows.length / rowsOfMessage) }, (_, message) =>
      encodeChunk(rows.slice(message * rowsOfMessage, (message + 1) * rowsOfMessage), { texts: sent }),
    );
    const received = isLast ? messages : messages.slice(0, breaksAfter);
    for (const bytes of received) applyChunk(table, texts, readChunk(bytes));
    const isWhole = received.length === messages.length;
    if (isComplete) cursor = isWhole ? end : -1;
    else cursor = isWhole ? end : Math.min(start + received.length * rowsOfMessage, cursor);
  }
  return table;
}

test("connections that break, resume and repeat give the table of a complete read", () => {
  fc.assert(
    fc.property(
      fc.array(change, { minLength: 1, maxLength: 40 }),
      fc.array(connection, { minLength: 1, maxLength: 5 }),
      (log, connections) => {
        const expected = Object.fromEntries(tableAt(log, log.length, 0).map((row) => [row.key, row]));
        expect(rowsOf(readThrough(log, connections))).toEqual(expected);
      },
    ),
  );
});

test("new rows, replaced rows and moves are distinguished", () => {
  const table = new NodeTable();
  const texts = new ConnectionTexts(table);
  const apply = (...rows: NodeRow[]) => applyChunk(table, texts, readChunk(encodeChunk(rows)));
  const running = nodeRow({ key: 5, phase: 2, ended: undefined });
  expect(apply(running)).toEqual({ firstNewRow: 0, replaced: [], movesRows: false });
  expect(apply({ ...running, attempts: 2 })).toEqual({ firstNewRow: 1, replaced: [0], movesRows: false });
  expect(apply(nodeRow({ key: 9 }), nodeRow({ key: 5 }))).toEqual({ firstNewRow: 1, replaced: [0], movesRows: true });
  expect([table.rowOf(9), table.rowOf(4), table.length]).toEqual([1, -1, 2]);
});

test("a table of many rows finds each key", () => {
  const table = new NodeTable();
  const rows = Array.from({ length: 5000 }, (_, at) => nodeRow({ key: at * 3 + 2 ** 33, id: `run-${at}` }));
  applyChunk(table, new ConnectionTexts(table), readChunk(encodeChunk(rows)));
  for (const [row, { key, id }] of rows.entries()) expect([table.rowOf(key), table.idOf(row)]).toEqual([row, id]);
  expect(table.rowOf(1)).toBe(-1);
});

test("a text that was not sent is refused", () => {
  const table = new NodeTable();
  const chunk = readChunk(encodeChunk([nodeRow({ key: 1, entity: "train" })]));
  expect(() => applyChunk(table, new ConnectionTexts(table), { ...chunk, texts: [] })).toThrow(MalformedMessageError);
});
