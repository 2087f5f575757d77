import { expect, test } from "vitest";
import { Budget, memoryShare, Reservation } from "./index.js";

test("reservations share a capacity and give it back once", () => {
  const budget = new Budget(100);
  const [one, other] = [new Reservation(budget), new Reservation(budget)];
  expect([one.raiseTo(60), other.raiseTo(50), other.raiseTo(40), one.raiseTo(10)]).toEqual([true, false, true, true]);
  expect(budget.used).toBe(100);
  one.release();
  one.release();
  expect(budget.used).toBe(40);
});

test("a share of memory is below the heap limit", () => {
  expect(memoryShare(0.25)).toBeGreaterThan(memoryShare(0.1));
});
