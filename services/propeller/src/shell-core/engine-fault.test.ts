import { expect, test } from "vitest";
import { EngineFault, Faults, inEngine } from "./engine-fault.js";

const fault = new EngineFault(new TypeError("x is undefined"));

test("what the engine throws is told from what others throw", () => {
  expect(inEngine(() => 5)).toBe(5);
  const broken = (): never => {
    throw new TypeError("x is undefined");
  };
  expect(() => inEngine(broken)).toThrow(EngineFault);
  expect(() => inEngine(broken)).toThrow("TypeError: x is undefined");
});

test("a workflow on which the engine fails again and again is given up, with the reason, and no other", () => {
  const faults = new Faults();
  for (let i = 0; i < 7; i++) faults.note("a", fault, i * 60_000);
  faults.note("b", fault, 0);
  expect(faults.verdict("a")).toBeUndefined();
  faults.note("a", fault, 480_000);
  expect(faults.verdict("a")).toBe("the engine has failed 8 times in a row on this execution: TypeError: x is undefined");
  expect(faults.verdict("b")).toBeUndefined();
  faults.forget("a");
  expect(faults.verdict("a")).toBeUndefined();
});

test("faults that come now and then are forgiven", () => {
  const faults = new Faults();
  for (let i = 0; i < 20; i++) faults.note("a", fault, i * 601_000);
  expect(faults.verdict("a")).toBeUndefined();
});
