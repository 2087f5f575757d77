import { createLogger } from "@flyte-ts/telemetry";
import { expect, test } from "vitest";
import { type Timers, WorkerPool, WorkQueue } from "./index.js";

const logger = createLogger({ service: "test", level: "silent" });

/** Time that moves when the test says so. */
function manualTimers(): Timers & { advance(ms: number): void } {
  let now = 0;
  let due: { at: number; run: () => void }[] = [];
  return {
    now: () => now,
    setTimeout: (run, ms) => {
      const timer = { at: now + ms, run };
      due.push(timer);
      return timer;
    },
    clearTimeout: (timer) => {
      due = due.filter((each) => each !== timer);
    },
    advance: (ms) => {
      now += ms;
      const ready = due.filter((each) => each.at <= now);
      due = due.filter((each) => each.at > now);
      for (const each of ready) each.run();
    },
  };
}

test("a key waits once, keys come in order", async () => {
  const queue = new WorkQueue();
  for (const key of ["a", "b", "a"]) queue.add(key);
  expect(queue.depth).toBe(2);
  expect([await queue.take(), await queue.take()]).toEqual(["a", "b"]);
});

test("a key that is worked on comes back only when its worker is done", async () => {
  const queue = new WorkQueue();
  queue.add("a");
  await queue.take();
  queue.add("a");
  queue.add("a");
  expect(queue.depth).toBe(0);
  queue.done("a");
  expect(queue.depth).toBe(1);
  expect(await queue.take()).toBe("a");
  queue.done("a");
  expect(queue.depth).toBe(0);
});

test("of several times for a key the earliest counts", () => {
  const timers = manualTimers();
  const queue = new WorkQueue(timers);
  queue.addAt("a", 50);
  queue.addAt("a", 20);
  queue.addAt("a", 80);
  queue.addAt("b", 30);
  queue.forget("b");
  timers.advance(19);
  expect(queue.depth).toBe(0);
  timers.advance(100);
  expect(queue.depth).toBe(1);
  timers.advance(5);
  expect(queue.latencyMs).toBe(5);
});

test("the pool never gives one key to two workers, keeps its bound, and waits for running work", async () => {
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
    work: async (key) => {
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
  expect(pool.free).toBe(3);
});
