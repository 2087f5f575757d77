import { expect, test } from "vitest";
import { createFairSemaphore } from "./fair-semaphore.js";

test("sources take turns with one task each, and tasks of a busy source do not delay others", async () => {
  const turns = createFairSemaphore({ concurrency: 2, maxQueued: 10, maxQueuedPerSource: 5 });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const run = (source: string, name: string) =>
    turns.run(source, async () => {
      begun.push(name);
      await new Promise<void>((end) => ends.push(end));
      return name;
    });
  const all = [run("a", "a1"), run("a", "a2"), run("a", "a3"), run("b", "b1"), run("c", "c1")];
  const ended = async () => {
    ends.shift()?.();
    await new Promise(setImmediate);
  };
  await new Promise(setImmediate);
  expect(begun).toEqual(["a1", "b1"]);
  await ended();
  expect(begun).toEqual(["a1", "b1", "a2"]);
  await ended();
  expect(begun).toEqual(["a1", "b1", "a2", "c1"]);
  for (let i = 0; i < 3; i++) await ended();
  expect(await Promise.all(all)).toEqual(["a1", "a2", "a3", "b1", "c1"]);
});

test("tasks above the queue limit of a source are refused, and those of other sources run", async () => {
  const turns = createFairSemaphore({ concurrency: 2, maxQueued: 3, maxQueuedPerSource: 1 });
  let end: () => void = () => undefined;
  const first = turns.run("a", () => new Promise<string>((resolve) => (end = () => resolve("first"))));
  const second = turns.run("a", async () => "second");
  expect(await turns.run("a", async () => "third")).toBeUndefined();
  expect(await turns.run("b", async () => "b")).toBe("b");
  end();
  expect(await Promise.all([first, second])).toEqual(["first", "second"]);
});

test("a failed task releases its permit", async () => {
  const turns = createFairSemaphore({ concurrency: 1, maxQueued: 1, maxQueuedPerSource: 1 });
  await expect(turns.run("a", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await turns.run("a", async () => "yes")).toBe("yes");
});
