import fc from "fast-check";
import { expect, test } from "vitest";
import type { NodePage } from "../../store/node-table/node-page.js";
import { parseSnapshot, type Snapshot } from "../../store/watch/snapshot.js";
import { readTableCursor } from "./cursor.js";
import { ShownTable } from "./shown-table.fixture.js";
import { TableFeed } from "./table-feed.js";
import type { TablePosition } from "./table-messages.js";

// Nodes are added and change at random while a watcher reads, stops anywhere and resumes at this
// feed or another: in the end it shows exactly the nodes of the feed.

interface Node {
  readonly id: string;
  readonly parent: number;
  readonly phase: number;
  readonly time: number;
  readonly text: string;
}

const node = fc.record<Node>({
  id: fc.oneof(fc.stringMatching(/^n[0-9]-[0-9a-z]{0,12}$/), fc.string({ unit: "binary", maxLength: 300 })),
  parent: fc.nat(20),
  phase: fc.nat(10),
  time: fc.integer({ min: -1, max: 2 ** 42 }),
  text: fc.constantFrom("", "a", "b", "c", "d"),
});

const step = fc.oneof(
  fc.record({ kind: fc.constant("write" as const), nodes: fc.array(fc.tuple(fc.nat(30), node), { maxLength: 12 }) }),
  fc.record({ kind: fc.constant("read" as const), messages: fc.integer({ min: 1, max: 4 }) }),
  fc.constant({ kind: "reconnect" as const }),
  fc.constant({ kind: "move" as const }),
  fc.constant({ kind: "loaded" as const }),
  fc.constant({ kind: "execution" as const }),
);

const snapshot = parseSnapshot("1:1:") as Snapshot;

function pageOf(nodes: readonly (readonly [number, Node])[]): NodePage {
  const each = <Value>(get: (key: number, node: Node) => Value): Value[] => nodes.map(([key, one]) => get(key, one));
  return {
    length: nodes.length,
    // Ids above 32 bits are as good as small ones.
    key: each((key) => keyOf(key)),
    id: each((key, { id }) => `${key}${id}`),
    parent: each((_, { parent }) => parent),
    phase: each((_, { phase }) => phase),
    flags: each((_, { time }) => Math.abs(time) % 32),
    cache: each((_, { phase }) => phase % 8),
    attempts: each((_, { phase }) => phase * 20),
    queued: each((_, { time }) => -time),
    started: each((_, { time }) => time),
    ended: each((_, { time }) => (time % 2 === 0 ? -1 : time)),
    entity: each((_, { text }) => text),
    error: each((_, { text }) => text),
    spec: each((key, { id, text }) => (text === "" ? `${key}${id}` : text)),
  };
}

const keyOf = (key: number): number => (key < 15 ? key + 1 : 2 ** 40 + key);
const newFeed = () => new TableFeed({ executionId: 1n, snapshot, bytes: new Uint8Array(), endedAt: undefined });

function readAll(feed: TableFeed, table: ShownTable, from: TablePosition): TablePosition {
  let position = from;
  for (let next = feed.messages.next(position); next !== undefined; next = feed.messages.next(position)) {
    table.take(next.message);
    position = next.position;
  }
  return position;
}

test("a watcher that stops and resumes anywhere shows the nodes of the feed", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const stored = new Map<number, readonly [number, Node]>();
      let feed = newFeed();
      let isLoaded = false;
      const table = new ShownTable();
      let cursor = "";
      let position = feed.messages.positionOf(undefined);
      const reconnect = (): void => {
        table.connect();
        position = feed.messages.positionOf(readTableCursor(cursor));
      };
      const load = (): void => {
        if (!isLoaded) feed.setLoaded();
        isLoaded = true;
      };
      for (const [index, each] of steps.entries()) {
        if (each.kind === "write") {
          for (const one of each.nodes) stored.set(one[0], one);
          const page = pageOf(each.nodes);
          if (isLoaded) feed.apply({ execution: undefined, nodes: page }, snapshot);
          else feed.add(page);
        } else if (each.kind === "read") {
          for (let count = 0; count < each.messages; count++) {
            const next = feed.messages.next(position);
            if (next === undefined) break;
            cursor = table.take(next.message).cursor;
            position = next.position;
          }
        } else if (each.kind === "reconnect") reconnect();
        else if (each.kind === "loaded") load();
        else if (each.kind === "execution") {
          feed.apply({ execution: { bytes: Uint8Array.of(0x78, index), endedAt: undefined }, nodes: undefined }, snapshot);
        } else {
          feed = newFeed();
          feed.add(pageOf([...stored.values()]));
          isLoaded = false;
          reconnect();
        }
      }
      load();
      const last = readAll(feed, table, position);
      expect(last.complete).toBe(true);
      const whole = new ShownTable();
      const fresh = newFeed();
      fresh.add(pageOf([...stored.values()]));
      fresh.setLoaded();
      readAll(fresh, whole, fresh.messages.positionOf(undefined));
      expect(new Set(whole.rows.keys())).toEqual(new Set([...stored.keys()].map(keyOf)));
      expect(table.rows.size).toBe(whole.rows.size);
      for (const [key, shown] of whole.rows) {
        // A node keeps the id of its first row.
        expect({ ...table.rows.get(key), id: "", spec: "" }).toEqual({ ...shown, id: "", spec: "" });
      }
    }),
    { numRuns: 300 },
  );
});

test("each value comes back as it was written", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.tuple(fc.nat(1_000), node), { selector: ([key]) => key, maxLength: 60 }), (nodes) => {
      const feed = newFeed();
      const page = pageOf(nodes);
      feed.add(page);
      feed.setLoaded();
      const table = new ShownTable();
      readAll(feed, table, feed.messages.positionOf(undefined));
      expect(
        [...table.rows.values()].map(({ id, key, parent, queued, started, ended, spec }) => ({
          id,
          key,
          parent,
          queued,
          started,
          ended,
          spec,
        })),
      ).toEqual(
        nodes.map(([key, { id, parent, time, text }]) => ({
          key: keyOf(key),
          id: Buffer.from(`${key}${id}`).toString(),
          parent,
          queued: time === 0 ? 0 : -time,
          started: time,
          ended: time % 2 === 0 ? -1 : time,
          spec: text === "" ? Buffer.from(`${key}${id}`).toString() : text,
        })),
      );
    }),
    { numRuns: 300 },
  );
});
