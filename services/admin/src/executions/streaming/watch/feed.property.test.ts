import { fromBinary } from "@bufbuild/protobuf";
import { WatchExecutionResponseSchema } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readCursor, writeCursor } from "./cursor.js";
import type { RowKey, WatchedRow } from "../../store/watch/row.js";
import type { Message } from "./chunk.js";
import { nodeRow, type WatchedNodeRow } from "../../store/watch/encode-row.js";
import { Feed } from "./feed.js";
import { isAtLeast, isVisible, parseSnapshot, type Snapshot } from "../../store/watch/snapshot.js";

// A database of rows with overlapping writers, replicas that poll it irregularly, and a watcher
// whose stream breaks at any message and resumes at any replica: it receives the newest version of
// every row, and no version twice.

interface Version {
  readonly xid: number;
  readonly value: number;
}

class Database {
  readonly #rows = new Map<number, Version[]>();
  readonly #running = new Map<number, number>();
  #next = 100;
  #value = 0;

  begin(row: number): void {
    // A row lock serializes its writers.
    if ([...this.#running.values()].includes(row)) return;
    this.#running.set(this.#next++, row);
  }

  commit(choice: number): void {
    const all = [...this.#running];
    const one = all[choice % Math.max(1, all.length)];
    if (one === undefined) return;
    const [xid, row] = one;
    this.#running.delete(xid);
    this.#rows.set(row, [...(this.#rows.get(row) ?? []), { xid, value: ++this.#value }]);
  }

  commitAll(): void {
    while (this.#running.size > 0) this.commit(0);
  }

  moment(): Snapshot {
    const running = [...this.#running.keys()].sort((a, b) => a - b);
    const text = `${running[0] ?? this.#next}:${this.#next}:${running.join(",")}`;
    const snapshot = parseSnapshot(text);
    if (snapshot === undefined) throw new Error(text);
    return snapshot;
  }

  /** Returns the rows that changed since the snapshot, or all. */
  read(since?: Snapshot): WatchedRow[] {
    return [...this.#rows].flatMap(([id, versions]) => {
      const newest = versions.at(-1);
      return newest === undefined || (since !== undefined && isVisible(since, newest.xid)) ? [] : [rowOf(id, newest)];
    });
  }

  newest(): Map<number, number> {
    return new Map([...this.#rows].map(([id, versions]) => [id, versions.at(-1)?.value ?? 0]));
  }
}

/**
 * Stores the value in the node's retry group; a message usually has space for only one such row.
 */
function rowOf(id: number, { xid, value }: Version): WatchedRow {
  const row: WatchedNodeRow = {
    id: BigInt(id),
    node_id: `n${id}`,
    parent_node_id: null,
    retry_group: String(value),
    spec_node_id: "x".repeat(id % 4 === 0 ? 10 : 20_000),
    is_parent: false,
    is_dynamic: false,
    is_array: false,
    phase: "RUNNING",
    first_ns: 0n,
    started_ns: null,
    updated_ns: 0n,
    ended_ns: null,
    duration: 0n,
    input_uri: "",
    output_uri: "",
    deck_uri: "",
    dynamic_job_spec_uri: "",
    error: null,
    settled: null,
    target: null,
    xid: BigInt(xid),
  };
  const { $typeName: _, ...id_ } = { $typeName: "", project: "p", domain: "d", name: "e", org: "" };
  return nodeRow(row, { $typeName: "flyteidl.core.WorkflowExecutionIdentifier", ...id_ });
}

class Watcher {
  readonly received = new Map<number, number>();
  cursor = "";

  take(message: Message): void {
    const { cursor, nodes } = fromBinary(WatchExecutionResponseSchema, message.bytes);
    this.cursor = cursor;
    for (const { node } of nodes) {
      const id = Number(node?.id?.nodeId.slice(1));
      const value = Number(node?.metadata?.retryGroup);
      // Newer than the known version: neither repeated nor older.
      if (value <= (this.received.get(id) ?? 0)) throw new Error(`n${id} is received as of ${value} after ${this.received.get(id)}`);
      this.received.set(id, value);
    }
  }
}

type Step =
  | { readonly kind: "begin"; readonly row: number }
  | { readonly kind: "commit"; readonly choice: number }
  /** Commits all pending writes, and more of them together. */
  | { readonly kind: "burst"; readonly rows: readonly number[] }
  | { readonly kind: "look"; readonly replica: number }
  /** Receives this many messages; then the stream breaks or stays open. */
  | { readonly kind: "take"; readonly replica: number; readonly messages: number; readonly breaks: boolean };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant("begin" as const), row: fc.integer({ min: 1, max: 9 }) }) },
    { weight: 6, arbitrary: fc.record({ kind: fc.constant("commit" as const), choice: fc.nat({ max: 5 }) }) },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant("burst" as const), rows: fc.uniqueArray(fc.integer({ min: 1, max: 9 })) }),
    },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant("look" as const), replica: fc.nat({ max: 1 }) }) },
    {
      weight: 9,
      arbitrary: fc.record({
        kind: fc.constant("take" as const),
        replica: fc.nat({ max: 1 }),
        messages: fc.nat({ max: 6 }),
        breaks: fc.boolean(),
      }),
    },
  ),
  { minLength: 30, maxLength: 80 },
);

test("every change is streamed exactly once, for any interruptions", () => {
  fc.assert(
    fc.property(steps, (all) => {
      const database = new Database();
      const feeds: Feed[] = [0, 1].map(() => new Feed(1n, database.moment(), { rows: database.read(), endedAt: undefined }));
      const watcher = new Watcher();
      let open: { feed: Feed; messages: Iterator<Message>; sequence: number } | undefined;
      const look = (feed: Feed) => feed.apply({ rows: database.read(feed.at), endedAt: undefined }, database.moment());
      const take = (replica: number): boolean => {
        const feed = feeds[replica] as Feed;
        if (open === undefined) {
          const cursor = watcher.cursor === "" ? undefined : readCursor(watcher.cursor);
          if (cursor !== undefined && !isAtLeast(feed.at, cursor.at)) look(feed);
          const { messages, sequence } = feed.join(cursor);
          open = { feed, messages: messages[Symbol.iterator](), sequence };
        }
        const first = open.messages.next();
        const next = first.done === true ? open.feed.next(open.sequence) : undefined;
        if (next !== undefined) open.sequence = next.sequence;
        const message = first.done === true ? next?.message : first.value;
        if (message !== undefined) watcher.take(message);
        return message !== undefined;
      };
      for (const step of all) {
        if (step.kind === "begin") database.begin(step.row);
        else if (step.kind === "commit") database.commit(step.choice);
        else if (step.kind === "burst") {
          database.commitAll();
          for (const row of step.rows) database.begin(row);
          database.commitAll();
        } else if (step.kind === "look") look(feeds[step.replica] as Feed);
        else {
          for (let taken = 0; taken < step.messages && take(step.replica); taken++);
          if (step.breaks) open = undefined;
        }
      }
      database.commitAll();
      for (const feed of feeds) look(feed);
      while (take(0));
      expect(watcher.received).toEqual(database.newest());
    }),
    { numRuns: 250 },
  );
});

const key = fc.record({ kind: fc.constantFrom<RowKey["kind"]>("execution", "node", "task"), id: fc.nat() });
const moment = fc
  .tuple(fc.nat(), fc.nat({ max: 50 }), fc.uniqueArray(fc.nat({ max: 49 }), { maxLength: 5 }))
  .map(([xmin, span, running]) => parseSnapshot(`${xmin}:${xmin + span}:${running.map((each) => xmin + each).join(",")}`) as Snapshot);

test("a cursor is parsed as it was formatted, and no other text is a cursor", () => {
  const cursors = fc.record({
    executionId: fc.nat(),
    at: moment,
    partial: fc.option(fc.record({ before: fc.option(moment, { nil: undefined }), key }), { nil: undefined }),
    executionHash: fc.constantFrom("", "abcdefABCD_-"),
    ended: fc.boolean(),
  });
  fc.assert(
    fc.property(cursors, (cursor) => {
      const text = writeCursor(cursor);
      expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
      expect(readCursor(text)).toEqual(cursor.partial === undefined ? { ...cursor, partial: undefined } : cursor);
    }),
  );
  fc.assert(fc.property(fc.string(), (text) => readCursor(text) === undefined));
});
