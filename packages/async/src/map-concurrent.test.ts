import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { forEachConcurrent, mapConcurrent } from "./map-concurrent.js";

test("maps all items in order, never with more calls in progress than allowed", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 20 }),
      fc.integer({ min: 1, max: 5 }),
      fc.boolean(),
      async (turns, concurrency, lazily) => {
        let running = 0;
        let most = 0;
        const items = lazily ? iterate(turns) : turns;
        const results = await mapConcurrent(items, concurrency, async (count, index) => {
          most = Math.max(most, ++running);
          for (let i = 0; i < count; i++) await nextTurn();
          running--;
          return [count, index];
        });
        expect(results).toEqual(turns.map((count, index) => [count, index]));
        expect(most).toBeLessThanOrEqual(concurrency);
        expect(most).toBeGreaterThanOrEqual(lazily ? 0 : Math.min(concurrency, turns.length));
      },
    ),
    { numRuns: 50 },
  );
});

test("after an error it starts no more calls, and throws when those in progress have ended", async () => {
  const started: number[] = [];
  const ended: number[] = [];
  const work = async (item: number) => {
    started.push(item);
    if (item === 2) throw new Error("two");
    for (let i = 0; i < 5; i++) await nextTurn();
    ended.push(item);
  };
  await expect(forEachConcurrent([1, 2, 3, 4, 5], 2, work)).rejects.toThrow("two");
  expect([started, ended]).toEqual([[1, 2], [1]]);
});

test("closes an asynchronous source after an error, and throws the errors of the source", async () => {
  let closed = false;
  async function* source() {
    try {
      yield 1;
      yield 2;
    } finally {
      closed = true;
    }
  }
  const fail = () => Promise.reject(new Error("work"));
  await expect(forEachConcurrent(source(), 1, fail)).rejects.toThrow("work");
  expect(closed).toBe(true);
  async function* failing(): AsyncGenerator<number> {
    yield 1;
    throw new Error("source");
  }
  await expect(forEachConcurrent(failing(), 3, () => Promise.resolve())).rejects.toThrow("source");
});

async function* iterate<T>(items: readonly T[]): AsyncGenerator<T> {
  for (const item of items) {
    await nextTurn();
    yield item;
  }
}
