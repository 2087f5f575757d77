import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Semaphore } from "./semaphore.js";

test("runs tasks in the order of their calls, never more than permitted at the same time", async () => {
  const task = fc.record({ before: fc.nat(3), during: fc.nat(3), fails: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(task, { maxLength: 12 }), fc.integer({ min: 1, max: 4 }), async (tasks, permits) => {
      const semaphore = new Semaphore(permits);
      const started: number[] = [];
      let running = 0;
      const results: Promise<unknown>[] = [];
      for (const [index, { before, during, fails }] of tasks.entries()) {
        for (let i = 0; i < before; i++) await nextTurn();
        const result = semaphore.run(async () => {
          started.push(index);
          expect(++running).toBeLessThanOrEqual(permits);
          for (let i = 0; i < during; i++) await nextTurn();
          running--;
          if (fails) throw new Error("failed");
        });
        results.push(result.catch(() => undefined));
      }
      await Promise.all(results);
      expect(started).toEqual(tasks.map((_, index) => index));
      expect(semaphore.waiting).toBe(0);
    }),
    { numRuns: 50 },
  );
});

test("owners take turns, and each one's tasks keep their order", async () => {
  const semaphore = new Semaphore(1);
  const order: string[] = [];
  const run = (owner: string, task: string) => semaphore.run(async () => void order.push(task), owner);
  const tasks = ["a0", "a1", "a2", "a3", "b0", "b1"].map((task) => run(task[0] ?? "", task));
  await Promise.all(tasks);
  expect(order).toEqual(["a0", "a1", "b0", "a2", "b1", "a3"]);
});

test("a call at the moment of a release does not overtake a waiting task", async () => {
  const semaphore = new Semaphore(1);
  const order: string[] = [];
  const first = semaphore.run(() => Promise.resolve());
  const second = semaphore.run(async () => void order.push("waiting"));
  const third = first.then(() => semaphore.run(async () => void order.push("late")));
  await Promise.all([second, third]);
  expect(order).toEqual(["waiting", "late"]);
});
