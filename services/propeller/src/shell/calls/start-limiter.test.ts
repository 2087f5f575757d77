import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { StartLimiter } from "./start-limiter.js";

test("tasks start in order, at most the limit in one turn of the event loop", async () => {
  const limiter = new StartLimiter(2);
  const started: number[] = [];
  const all = Promise.all([0, 1, 2, 3, 4].map((task) => limiter.run(async () => started.push(task))));
  const byTurn: number[][] = [];
  while (byTurn.flat().length < 5) {
    byTurn.push(started.splice(0));
    await setImmediate();
  }
  await all;
  expect(byTurn.filter((turn) => turn.length > 0)).toEqual([[0, 1], [2, 3], [4]]);
});

test("a task that comes while others wait does not overtake them", async () => {
  const limiter = new StartLimiter(1);
  const started: string[] = [];
  const start = (task: string) => limiter.run(async () => void started.push(task));
  const early = [start("a"), start("b"), start("c")];
  await early[0];
  await setImmediate();
  const late = start("d");
  await Promise.all([...early, late]);
  expect(started).toEqual(["a", "b", "c", "d"]);
});

test("a failed task frees its place", async () => {
  const limiter = new StartLimiter(1);
  await expect(limiter.run(() => Promise.reject(new Error("away")))).rejects.toThrow("away");
  await expect(limiter.run(() => Promise.resolve("done"))).resolves.toBe("done");
});
