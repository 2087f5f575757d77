import { expect, test } from "vitest";
import { SendScheduler } from "./send-scheduler.js";

function drained(turns: SendScheduler): string[] {
  const taken: string[] = [];
  for (let key = turns.next(); key !== undefined; key = turns.next()) taken.push(key);
  return taken;
}

test("executions with few sent events come first, and those with many get every fourth turn", () => {
  const turns = new SendScheduler();
  for (let event = 0; event < 32; event++) for (const key of ["A", "B"]) turns.onSent(key);
  for (const key of ["A", "B", "a", "b", "c", "d", "e"]) turns.add(key);
  expect(turns.isEmpty).toBe(false);
  expect(drained(turns)).toEqual(["a", "b", "c", "A", "d", "e", "B"]);
  expect(turns.isEmpty).toBe(true);
});

test("the counts of an ended execution, and of the oldest of ten thousand, are reset", () => {
  const turns = new SendScheduler();
  for (let event = 0; event < 32; event++) for (const key of ["first", "ended"]) turns.onSent(key);
  turns.remove("ended");
  for (let other = 0; other < 10_000; other++) turns.onSent(`other ${other}`);
  for (let event = 0; event < 32; event++) turns.onSent("many");
  for (const key of ["many", "first", "ended"]) turns.add(key);
  expect(drained(turns)).toEqual(["first", "ended", "many"]);
});
