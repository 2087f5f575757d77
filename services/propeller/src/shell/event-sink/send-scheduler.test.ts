import { expect, test } from "vitest";
import { SendScheduler } from "./send-scheduler.js";

function drained(turns: SendScheduler): string[] {
  const taken: string[] = [];
  for (let key = turns.next(); key !== undefined; key = turns.next()) taken.push(key);
  return taken;
}

function send(turns: SendScheduler, key: string, events: number): void {
  for (let event = 0; event < events; event++) turns.onSent(key);
}

test("executions with fewer sent events come first, and every fourth turn goes to the one that has waited longest", () => {
  const turns = new SendScheduler();
  for (const key of ["A", "B"]) send(turns, key, 32);
  for (const key of ["A", "B", "a", "b", "c", "d", "e"]) turns.add(key);
  expect(drained(turns)).toEqual(["a", "b", "c", "A", "d", "e", "B"]);
});

test("executions take turns while their numbers of sent events have the same bit length", () => {
  const turns = new SendScheduler();
  send(turns, "five", 5);
  send(turns, "seven", 7);
  send(turns, "three", 3);
  for (const key of ["seven", "five", "three"]) turns.add(key);
  expect(drained(turns)).toEqual(["three", "seven", "five"]);
});

test("the count of the execution that sent longest ago is evicted after ten thousand", () => {
  const turns = new SendScheduler();
  for (const key of ["first", "many"]) send(turns, key, 32);
  for (let other = 0; other < 9_999; other++) turns.onSent(`other ${other}`);
  for (const key of ["many", "first"]) turns.add(key);
  expect(drained(turns)).toEqual(["first", "many"]);
});
