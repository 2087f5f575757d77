import { ManualTime } from "@flyte-ts/async/manual-time";
import { createLogger } from "@flyte-ts/telemetry";
import { afterEach, expect, test, vi } from "vitest";
import { WorkerPool, WorkQueue } from "../index.js";

const logger = createLogger({ service: "test", level: "silent" });

afterEach(() => vi.restoreAllMocks());

test("a key is queued once, and keys are returned in order", () => {
  const queue = new WorkQueue();
  for (const key of ["a", "b", "a"]) queue.add(key);
  expect(queue.depth).toBe(2);
  expect([queue.get(), queue.get()]).toEqual(["a", "b"]);
});

test("a key that is added while it is processed is queued again when its worker is done", () => {
  const queue = new WorkQueue();
  queue.add("a");
  queue.get();
  queue.add("a");
  queue.add("a");
  expect(queue.depth).toBe(0);
  queue.done("a");
  expect(queue.depth).toBe(1);
  expect(queue.get()).toBe("a");
  queue.done("a");
  expect(queue.depth).toBe(0);
});

test("addAt keeps the earliest of several times", async () => {
  const time = new ManualTime(new Date(0));
  const queue = new WorkQueue(time);
  queue.addAt("a", 50);
  queue.addAt("a", 20);
  queue.addAt("a", 80);
  queue.addAt("b", 30);
  queue.cancelDelayed("b");
  await time.advance(19);
  expect(queue.depth).toBe(0);
  await time.advance(1);
  expect(queue.depth).toBe(1);
  await time.advance(5);
  expect(queue.latencyMs).toBe(5);
});

test("rescheduleAt moves a key's time, earlier and later, and the key is added once", async () => {
  const time = new ManualTime(new Date(0));
  const queue = new WorkQueue(time);
  queue.rescheduleAt("a", 50);
  queue.rescheduleAt("a", 80);
  await time.advance(79);
  expect(queue.depth).toBe(0);
  await time.advance(1);
  expect(queue.depth).toBe(1);
  queue.get();
  queue.done("a");
  queue.rescheduleAt("a", 200);
  queue.rescheduleAt("a", 300);
  queue.addAt("a", 100);
  await time.advance(20);
  expect(queue.depth).toBe(1);
  queue.get();
  queue.done("a");
  await time.advance(300);
  expect(queue.depth).toBe(0);
});

test("a key that used less time comes before one that used more, and none starves", () => {
  const queue = new WorkQueue();
  const turns: string[] = [];
  const work = (usedMs: (key: string) => number) => {
    const key = queue.get() ?? "";
    turns.push(key);
    queue.add(key);
    queue.done(key, usedMs(key));
  };
  for (const key of ["large-1", "large-2", "large-3"]) queue.add(key);
  for (let turn = 0; turn < 9; turn++) work(() => 10);
  // All three large ones are queued, and have waited longer.
  queue.add("small");
  turns.length = 0;
  for (let turn = 0; turn < 43; turn++) work((key) => (key === "small" ? 1 : 10));
  expect(turns[0]).toBe("small");
  for (const key of ["large-1", "large-2", "large-3"]) expect(turns.filter((turn) => turn === key).length).toBeGreaterThanOrEqual(3);
  expect(turns.filter((turn) => turn === "small").length).toBeGreaterThanOrEqual(30);
});

test("keys with short turns keep their order, and many short turns are charged", () => {
  const queue = new WorkQueue();
  for (const key of ["a", "b", "c"]) queue.add(key);
  const next = (usedMs: number) => {
    const key = queue.get() ?? "";
    queue.add(key);
    queue.done(key, usedMs);
    return key;
  };
  expect([0.5, 0.1, 0.3, 0.3, 0.1, 0.3].map(next)).toEqual(["a", "b", "c", "a", "b", "c"]);
  // The third turn of a exceeds 1 ms, so the others come first until they have used as much.
  const turns = Array.from({ length: 40 }, () => next(0.25));
  expect(turns.slice(0, 6)).toEqual(["a", "b", "c", "b", "c", "b"]);
  for (const key of ["a", "b", "c"]) expect(turns.filter((turn) => turn === key).length).toBeGreaterThanOrEqual(12);
});

test("isContended is true while other keys are queued or were processed recently", async () => {
  const time = new ManualTime(new Date(0));
  const queue = new WorkQueue(time);
  const work = (key: string) => {
    queue.add(key);
    queue.done(queue.get() ?? "", 1);
  };
  work("a");
  work("a");
  expect(queue.isContended("a")).toBe(false);
  queue.add("b");
  expect(queue.isContended("a")).toBe(true);
  expect(queue.isContended("b")).toBe(true);
  queue.done(queue.get() ?? "", 1);
  await time.advance(150);
  work("a");
  expect(queue.isContended("a")).toBe(true);
  await time.advance(150);
  work("a");
  expect(queue.isContended("a")).toBe(false);
});

test("a key that stops sharing contends with no other, until its next turn", () => {
  const queue = new WorkQueue(new ManualTime(new Date(0)));
  const work = (key: string) => {
    queue.add(key);
    queue.done(queue.get() ?? "", 1);
  };
  work("live");
  work("ended");
  queue.stopSharing("ended");
  expect([queue.isContended("live"), queue.isContended("other")]).toEqual([false, true]);
  work("ended");
  work("live");
  expect(queue.isContended("live")).toBe(true);
  queue.stopSharing("ended");
  expect(queue.isContended("live")).toBe(false);
});

test("an idle key accumulates no credit", () => {
  const queue = new WorkQueue();
  queue.add("rests");
  queue.done(queue.get() ?? "", 1);
  for (let turn = 0; turn < 100; turn++) {
    queue.add("works");
    queue.done(queue.get() ?? "", 10);
  }
  queue.add("works");
  queue.add("rests");
  const turns = Array.from({ length: 4 }, () => {
    const key = queue.get() ?? "";
    queue.add(key);
    queue.done(key, 10);
    return key;
  });
  expect(turns.filter((key) => key === "rests")).toHaveLength(2);
});

test("a new key comes before a key that is always busy, and the pool yields to the event loop", async () => {
  const queue = new WorkQueue();
  const rounds: string[] = [];
  let beside: Promise<void> | undefined;
  const pool = new WorkerPool({
    queue,
    workers: 10,
    logger,
    onError: () => undefined,
    reconcile: (key) => {
      rounds.push(key);
      if (key === "busy" && !rounds.includes("small")) queue.add(key);
      for (const until = performance.now() + 1; key === "busy" && performance.now() < until; );
      // As if a socket delivered something for another key.
      beside ??= new Promise((resolve) => setImmediate(() => resolve(queue.add("small"))));
      return Promise.resolve();
    },
  });
  queue.add("busy");
  while (!rounds.includes("small")) await new Promise((resolve) => setImmediate(resolve));
  await beside;
  await pool.stop();
  // At most two turns of the event loop: in each, rounds of 1 ms may use 4 ms, plus the one that
  // exceeds it.
  expect(rounds.indexOf("small")).toBeLessThanOrEqual(10);
});

test("the pool yields after 20 ms of short rounds while many keys are queued, and after 4 ms otherwise", async () => {
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  const queue = new WorkQueue();
  /** Rounds of each turn of the event loop. */
  const turns: string[][] = [[]];
  const pool = new WorkerPool({
    queue,
    workers: 10,
    logger,
    onError: () => undefined,
    reconcile: (key) => {
      now += key.startsWith("short") ? 1 : 3;
      turns.at(-1)?.push(key);
      return Promise.resolve();
    },
  });
  for (let i = 0; i < 22; i++) queue.add(`short-${i}`);
  for (let i = 0; i < 3; i++) queue.add(`long-${i}`);
  while (turns.flat().length < 25) {
    await new Promise((resolve) => setImmediate(resolve));
    if (turns.at(-1)?.length !== 0) turns.push([]);
  }
  await pool.stop();
  const filled = turns.filter((rounds) => rounds.length > 0);
  expect(filled.map((rounds) => rounds.length)).toEqual([20, 3, 2]);
  expect(filled[1]).toEqual(["short-20", "short-21", "long-0"]);
});

test("the pool processes a key once at a time, keeps its bound, and stop waits for running work", async () => {
  const queue = new WorkQueue();
  const active = new Set<string>();
  let most = 0;
  let rounds = 0;
  const errors: string[] = [];
  const pool = new WorkerPool({
    queue,
    workers: 3,
    logger,
    onError: (key) => errors.push(key),
    reconcile: async (key) => {
      if (active.has(key)) throw new Error(`${key} twice`);
      active.add(key);
      most = Math.max(most, active.size);
      await new Promise((resolve) => setTimeout(resolve, 1));
      active.delete(key);
      rounds++;
      if (key === "k0") throw new Error("planned");
    },
  });
  for (let i = 0; i < 200; i++) {
    queue.add(`k${i % 7}`);
    if (i % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  while (queue.depth > 0) await new Promise((resolve) => setTimeout(resolve, 1));
  await pool.stop();
  expect(active.size).toBe(0);
  expect(most).toBe(3);
  expect(rounds).toBeGreaterThanOrEqual(7);
  expect(new Set(errors)).toEqual(new Set(["k0"]));
  expect(pool.idleWorkers).toBe(3);
});
