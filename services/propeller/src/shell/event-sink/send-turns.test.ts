import { expect, test } from "vitest";
import { SendTurns } from "./send-turns.js";

function drained(turns: SendTurns): string[] {
  const taken: string[] = [];
  for (let key = turns.take(); key !== undefined; key = turns.take()) taken.push(key);
  return taken;
}

test("executions that have sent few events come first, and those with many have each fourth turn", () => {
  const turns = new SendTurns();
  for (let event = 0; event < 32; event++) for (const key of ["A", "B"]) turns.sent(key);
  for (const key of ["A", "B", "a", "b", "c", "d", "e"]) turns.add(key);
  expect(turns.isEmpty).toBe(false);
  expect(drained(turns)).toEqual(["a", "b", "c", "A", "d", "e", "B"]);
  expect(turns.isEmpty).toBe(true);
});

test("an execution that has ended, and the one that began first among ten thousand, begin anew", () => {
  const turns = new SendTurns();
  for (let event = 0; event < 32; event++) for (const key of ["first", "ended"]) turns.sent(key);
  turns.ended("ended");
  for (let other = 0; other < 10_000; other++) turns.sent(`other ${other}`);
  for (let event = 0; event < 32; event++) turns.sent("many");
  for (const key of ["many", "first", "ended"]) turns.add(key);
  expect(drained(turns)).toEqual(["first", "ended", "many"]);
});
