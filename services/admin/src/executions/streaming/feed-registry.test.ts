import { createLogger } from "@flyte-ts/telemetry";
import { afterEach, expect, test } from "vitest";
import { parseSnapshot, type Snapshot } from "../store/watch/snapshot.js";
import { type Feed, FeedRegistry, type FeedSource } from "./feed-registry.js";

const snapshot = parseSnapshot("1:1:") as Snapshot;
const limits = { pollMs: 600_000, heartbeatMs: 600_000, lingerMs: 0, idleMs: 600_000, maxIdleRows: 5, maxFirstReads: 1 };
let registry: FeedRegistry<Feed<never>, never>;
let opened: string[];
afterEach(() => registry.close());

/** A registry of feeds with this number of rows, whose first reads end with `loaded`. */
function registryOf(size: number, loaded: Promise<void> = Promise.resolve()): typeof registry {
  opened = [];
  const source: FeedSource<Feed<never>, never> = {
    open: ({ name }) => {
      const executionId = BigInt(opened.push(name));
      const feed = { executionId, at: snapshot, size, apply: () => false, open: size, endedAt: undefined };
      return Promise.resolve({ feed, loaded });
    },
    readChanges: () => Promise.resolve({ snapshot, changes: new Map() }),
  };
  const logger = createLogger({ service: "test", level: "silent" });
  registry = new FeedRegistry({ logger, clock: () => new Date() }, source, limits);
  return registry;
}

const visit = async (name: string): Promise<void> => (await registry.acquire({ project: "p", domain: "d", name })).release();

test("an unused feed is kept, and the one that is unused for longest makes room for others", async () => {
  registryOf(2);
  await visit("a");
  await visit("b");
  await visit("a");
  expect(opened).toEqual(["a", "b"]);
  await visit("c");
  await visit("a");
  expect(opened).toEqual(["a", "b", "c"]);
  await visit("b");
  expect(opened).toEqual(["a", "b", "c", "b"]);
});

test("a feed in use needs no room, and one above the limit is dropped at once", async () => {
  registryOf(6);
  const used = await registry.acquire({ project: "p", domain: "d", name: "a" });
  await visit("b");
  await visit("a");
  await visit("b");
  expect(opened).toEqual(["a", "b", "b"]);
  used.release();
  await visit("a");
  expect(opened).toEqual(["a", "b", "b", "a"]);
});

test("a watcher of a feed whose first read fails gets its error, and the next one reads anew", async () => {
  const failing = Promise.withResolvers<void>();
  registryOf(1, failing.promise);
  const handle = await registry.acquire({ project: "p", domain: "d", name: "a" });
  expect(handle.failure).toBeUndefined();
  const woken = new Promise<void>((resolve) => handle.waiters.add(resolve));
  failing.reject(new Error("the connection is lost"));
  await woken;
  expect(handle.failure).toMatchObject({ message: "the connection is lost" });
  handle.release();
  await registry.acquire({ project: "p", domain: "d", name: "a" });
  expect(opened).toEqual(["a", "a"]);
});
