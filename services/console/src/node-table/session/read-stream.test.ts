import { type RestClient, RestError } from "@flyte-ts/client/browser";
import { expect, test } from "vitest";
import { encodeChunk, nodeRow, SentTexts } from "../wire/chunk.fixture.js";
import { connectNodeTable, type NodeTableWorker } from "../node-table-client.js";
import type { PageMessage } from "./protocol.js";
import { createReadStream } from "./read-stream.js";
import { TableSession } from "./session.js";

/** Client whose first stream breaks after its first message. */
function breakingClient() {
  const cursors: unknown[] = [];
  const client: RestClient = {
    call: () => Promise.reject(new Error("not called")),
    bytes: () => Promise.reject(new Error("not called")),
    async *stream(_, { query } = {}) {
      cursors.push(query?.["cursor"]);
      const texts = new SentTexts();
      const first = cursors.length === 1;
      yield encodeChunk([nodeRow({ key: first ? 1 : 2, entity: first ? "load" : "train" })], {
        texts,
        reset: first,
        cursor: first ? "a" : "b",
      });
      if (first) throw new RestError(14, "cut off", 200);
      yield encodeChunk([], { texts, cursor: "c", complete: true, ended: true });
    },
  };
  return { client, cursors };
}

test("a page reads a table through a worker, over a connection that breaks", async () => {
  const { client, cursors } = breakingClient();
  const worker: NodeTableWorker = {
    onmessage: null,
    postMessage: (message: PageMessage) => session.receive(message),
    terminate: () => undefined,
  };
  const session = new TableSession({
    read: createReadStream({ clientOf: () => client, sleep: () => Promise.resolve() }),
    post: (message) => worker.onmessage?.({ data: [message] }),
    now: () => 0,
    schedule: (run) => queueMicrotask(run),
  });
  const table = connectNodeTable(worker);
  const ended = new Promise<void>((resolve) => table.summary.subscribe(() => table.summary.get()?.hasEnded && resolve()));
  table.show({
    rows: { from: 0, to: 9 },
    bars: { from: 0, to: 9, level: 0 },
    buckets: { fromMs: 0, toMs: 1, count: 1 },
    folds: { stretches: [], foldedMs: 0 },
  });
  table.open({ path: "/table" });
  await ended;
  expect(cursors).toEqual([undefined, "a"]);
  expect(table.live.get()).toEqual({ kind: "live" });
  expect(await table.reveal("n2")).toBe(1);
  expect(table.shown.get()?.rows.map(({ task }) => task)).toEqual(["load", "train"]);
  expect(table.failure.get()).toBeUndefined();
  table.close();
});
