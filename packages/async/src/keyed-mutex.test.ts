import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { KeyedMutex } from "./keyed-mutex.js";

test("serializes tasks of one key in order, and runs those of different keys at the same time", async () => {
  const mutex = new KeyedMutex();
  const events: string[] = [];
  const task = (name: string) => async () => {
    events.push(`${name} begins`);
    await nextTurn();
    events.push(`${name} ends`);
  };
  await Promise.all([mutex.run("a", task("a1")), mutex.run("a", task("a2")), mutex.run("b", task("b1"))]);
  expect(events.indexOf("a1 ends")).toBeLessThan(events.indexOf("a2 begins"));
  expect(events.indexOf("b1 begins")).toBeLessThan(events.indexOf("a1 ends"));
});

test("a failed task fails its own caller and lets the next one run", async () => {
  const mutex = new KeyedMutex();
  const failed = mutex.run("a", () => Promise.reject(new Error("failed")));
  const next = mutex.run("a", () => Promise.resolve("next"));
  await expect(failed).rejects.toThrow("failed");
  expect(await next).toBe("next");
});
