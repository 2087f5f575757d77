import { expect, test } from "vitest";
import { MemoryBudget, memoryShare, Reservation } from "./index.js";

test("reservations share a capacity and release it once", () => {
  const budget = new MemoryBudget(100);
  const [one, other] = [new Reservation(budget), new Reservation(budget)];
  expect([one.growTo(60), other.growTo(50), other.growTo(40), one.growTo(10)]).toEqual([true, false, true, true]);
  expect(budget.used).toBe(100);
  one.release();
  one.release();
  expect(budget.used).toBe(40);
});

test("memoryShare is below the heap limit", () => {
  expect(memoryShare(0.25)).toBeGreaterThan(memoryShare(0.1));
});
