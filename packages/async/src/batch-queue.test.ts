import { beforeEach, expect, test } from "vitest";
import { ManualTime } from "./manual-time.js";
import { BatchQueue, type BatchQueueOptions } from "./batch-queue.js";

/** Batches in progress, as `owner: items`, and their ends. */
let started: string[];
let open: (() => void)[];
let failure: Error | undefined;
beforeEach(() => {
  started = [];
  open = [];
  failure = undefined;
});

const turn = () => new Promise((resolve) => setImmediate(resolve));

function queueOf(options: Partial<BatchQueueOptions<string, string>> = {}): BatchQueue<string, string> {
  return new BatchQueue({
    process: async (items, owner) => {
      started.push(`${owner}: ${items.join(" ")}`);
      await new Promise<void>((resolve) => open.push(resolve));
      if (failure !== undefined && items.includes("bad")) throw failure;
      return items.map((item) => item.toUpperCase());
    },
    maxItems: 3,
    ...options,
  });
}

/** Ends batches, also those that begin meanwhile. */
async function endAll(): Promise<void> {
  for (; open.length > 0; await turn()) for (const end of open.splice(0)) end();
}

test("items that wait for a batch of their owner share the next one, and each gets its own result", async () => {
  const queue = queueOf();
  const results = Promise.all(["a", "b", "c", "d", "e"].map((item) => queue.run(item, "x")));
  expect(started).toEqual(["x: a"]);
  await endAll();
  expect(started).toEqual(["x: a", "x: b c d", "x: e"]);
  expect(await results).toEqual(["A", "B", "C", "D", "E"]);
});

test("an owner's batches do not delay those of another owner", async () => {
  const queue = queueOf();
  const results = [queue.run("a", "x"), queue.run("b", "x"), queue.run("c", "y")];
  expect(started).toEqual(["x: a", "y: c"]);
  await endAll();
  expect(await Promise.all(results)).toEqual(["A", "B", "C"]);
});

test("several batches of one owner are processed at the same time where that is allowed", async () => {
  const queue = queueOf({ concurrency: 2 });
  const results = Promise.all(["a", "b", "c", "d"].map((item) => queue.run(item, "x")));
  expect(started).toEqual(["x: a", "x: b"]);
  await endAll();
  expect(started).toEqual(["x: a", "x: b", "x: c d"]);
  expect(await results).toEqual(["A", "B", "C", "D"]);
});

test("a batch stays within its size, and an item above that size is processed alone", async () => {
  const queue = queueOf({ maxWeight: 4, weightOf: (item) => item.length });
  const results = Promise.all(["aa", "bb", "cc", "dd", "eeeeee", "f"].map((item) => queue.run(item, "x")));
  await endAll();
  expect(started).toEqual(["x: aa", "x: bb cc", "x: dd", "x: eeeeee", "x: f"]);
  expect(await results).toHaveLength(6);
});

test("an error rejects the items of its batch alone", async () => {
  failure = new Error("unavailable");
  const queue = queueOf();
  const results = Promise.allSettled(["a", "b", "bad", "c", "d"].map((item) => queue.run(item, "x")));
  await endAll();
  expect((await results).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "rejected", "fulfilled"]);
});

test("an error that one item causes rejects this item alone", async () => {
  failure = new Error("too long");
  const queue = queueOf({ isItemError: (error) => error === failure });
  const results = Promise.allSettled(["a", "b", "bad", "c", "d"].map((item) => queue.run(item, "x")));
  await endAll();
  expect((await results).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled", "fulfilled"]);
  expect(started).toEqual(["x: a", "x: b bad c", "x: b", "x: bad", "x: c", "x: d"]);
});

test("an owner whose batches have ended begins anew", async () => {
  const queue = queueOf();
  const first = queue.run("a", "x");
  await endAll();
  const second = queue.run("b", "x");
  await endAll();
  expect(await Promise.all([first, second])).toEqual(["A", "B"]);
  expect(started).toEqual(["x: a", "x: b"]);
});

test("batches of one owner keep their pace, also when they end at once", async () => {
  const time = new ManualTime();
  const queue = queueOf({ concurrency: 4, msPerItem: (owner) => (owner === "x" ? 10 : 0), time });
  const results = Promise.all([
    ...["a", "b", "c", "d", "e"].map((item) => queue.run(item, "x")),
    ...["f", "g"].map((item) => queue.run(item, "y")),
  ]);
  await endAll();
  expect(started).toEqual(["x: a", "y: f", "y: g"]);
  await time.advance(9);
  expect(started).toHaveLength(3);
  await time.advance(1);
  expect(started.slice(3)).toEqual(["x: b c d"]);
  await endAll();
  await time.advance(29);
  expect(started.slice(4)).toEqual([]);
  await time.advance(1);
  expect(started.slice(4)).toEqual(["x: e"]);
  await endAll();
  expect(await results).toHaveLength(7);
});

test("an item that arrives during a pause waits for its end", async () => {
  const time = new ManualTime();
  const queue = queueOf({ msPerItem: () => 10, time });
  const first = queue.run("a", "x");
  await endAll();
  await first;
  await time.advance(5);
  const second = queue.run("b", "x");
  expect(started).toEqual(["x: a"]);
  await time.advance(5);
  expect(started).toEqual(["x: a", "x: b"]);
  await endAll();
  expect(await second).toBe("B");
});

test("a batch also gets the items that arrive while it gathers", async () => {
  const batches: (readonly number[])[] = [];
  const gates: (() => void)[] = [];
  const queue = new BatchQueue<number, number>({
    maxWeight: 10,
    weightOf: (item) => item,
    gather: () => new Promise((resolve) => gates.push(resolve)),
    process: async (items) => {
      batches.push(items);
      return items;
    },
  });
  const first = queue.run(1);
  const later = [2, 9, 20].map((item) => queue.run(item));
  for (const count of [1, 2, 3]) {
    await expect.poll(() => gates.length).toBe(count);
    gates.at(-1)?.();
  }
  expect(await Promise.all([first, ...later])).toEqual([1, 2, 9, 20]);
  expect(batches).toEqual([[1, 2], [9], [20]]);
});
