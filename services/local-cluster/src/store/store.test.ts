import { appendFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { KubeObject } from "../object/model.js";
import type { StoreEvent } from "./history.js";
import { openStore } from "./persistent-store.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "store-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (snapshotAtBytes?: number) =>
  openStore({
    folder,
    fail: (error) => {
      throw error;
    },
    ...(snapshotAtBytes === undefined ? {} : { snapshotAtBytes }),
  });
const configMap = (name: string, more: object = {}): KubeObject =>
  ({ apiVersion: "v1", kind: "Thing", metadata: { name, namespace: "n" }, ...more }) as KubeObject;
const place = (name: string) => ({ resource: "/things", namespace: "n", name });

test("writes are listed in key order, also after the store is reopened", async () => {
  const first = await open();
  for (const name of ["b", "a", "c"]) first.store.put("/things", configMap(name, { data: name }));
  first.store.remove(place("c"));
  await first.close();
  const second = await open();
  expect(second.store.list("/things").map(({ object }) => [object.metadata.name, object["data"]])).toEqual([
    ["a", "a"],
    ["b", "b"],
  ]);
  expect(second.store.revision).toBe(4);
  expect(second.store.since("/things", 0)).toMatchObject({
    events: [{ type: "ADDED" }, { type: "ADDED" }, { type: "ADDED" }, { type: "DELETED" }],
  });
  await second.close();
});

test("watchers see a write only when it is durable, and in order", async () => {
  const { store, close } = await open();
  const events: StoreEvent[] = [];
  store.subscribe("/things", (event) => events.push(event));
  const stored = store.put("/things", configMap("a"));
  expect(events).toEqual([]);
  expect(store.durableRevision).toBeLessThan(stored.revision);
  for (let i = 0; i < 50; i++) store.put("/things", configMap("a", { i }));
  await store.durable();
  expect(events.map(({ stored: { revision } }) => revision)).toEqual(Array.from({ length: 51 }, (_, i) => i + 1));
  await close();
});

test("a write of an equal state is omitted", async () => {
  const { store, close } = await open();
  const stored = store.put("/things", configMap("a", { x: [1, { y: 2 }] }));
  expect(store.put("/things", configMap("a", { x: [1, { y: 2 }] }))).toBe(stored);
  await close();
});

test("a reopened store has the same objects, for any writes, large or small", async () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  const data = fc.dictionary(fc.string({ minLength: 1, maxLength: 4 }), fc.oneof(value, fc.constant("x".repeat(9000))), { maxKeys: 4 });
  const write = fc.record({ name: fc.constantFrom("a", "b", "c"), remove: fc.boolean(), data });
  await fc.assert(
    fc.asyncProperty(fc.array(write, { maxLength: 30 }), fc.boolean(), async (writes, snapshot) => {
      rmSync(folder, { recursive: true, force: true });
      const first = await open();
      for (const [i, { name, remove, data: content }] of writes.entries()) {
        if (remove && i % 3 === 0) first.store.remove(place(name));
        else first.store.put("/things", JSON.parse(JSON.stringify(configMap(name, { data: content }))) as KubeObject);
        if (snapshot && i === 10) await first.snapshot();
      }
      const state = JSON.stringify(first.store.list("/things").map(({ object }) => object));
      const { revision } = first.store;
      await first.close();
      const second = await open();
      expect(JSON.parse(JSON.stringify(second.store.list("/things").map(({ object }) => object)))).toEqual(JSON.parse(state));
      expect(second.store.revision).toBe(revision);
      await second.close();
    }),
    { numRuns: 40 },
  );
});

test("a large log is replaced by a snapshot while writes continue", async () => {
  const first = await open(20_000);
  for (let i = 0; i < 300; i++) {
    first.store.put("/things", configMap(`t${i % 7}`, { i, text: "x".repeat(300) }));
    if (i % 20 === 0) await first.store.durable();
  }
  await first.close();
  expect(readdirSync(folder).filter((name) => name.startsWith("snapshot-"))).toHaveLength(1);
  const second = await open();
  expect(second.store.list("/things").map(({ object }) => object["i"])).toEqual([294, 295, 296, 297, 298, 299, 293]);
  await second.close();
});

test("a truncated end is dropped, and damage before newer logs is an error", async () => {
  const first = await open();
  first.store.put("/things", configMap("a"));
  await first.close();
  const log = join(folder, "log-0000000000000000.jsonl");
  appendFileSync(log, '{"r":2,"k":"/things","o":{"api');
  const second = await open();
  expect(second.droppedBytes).toBe(30);
  second.store.put("/things", configMap("b"));
  await second.close();
  const third = await open();
  expect(third.store.list("/things")).toHaveLength(2);
  await third.close();
  appendFileSync(log, "garbage\n");
  writeFileSync(join(folder, "log-0000000000000002.jsonl"), '{"r":3,"k":"/things","s":"n","n":"a","d":1}\n');
  await expect(open()).rejects.toThrow("damaged");
});
