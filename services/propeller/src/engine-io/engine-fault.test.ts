import { expect, test } from "vitest";
import { EngineFault, FaultCounter, rethrowAsEngineFault } from "./engine-fault.js";

const fault = new EngineFault(new TypeError("x is undefined"));

test("an error of the engine is wrapped to distinguish it from other errors", () => {
  expect(rethrowAsEngineFault(() => 5)).toBe(5);
  const broken = (): never => {
    throw new TypeError("x is undefined");
  };
  expect(() => rethrowAsEngineFault(broken)).toThrow(EngineFault);
  expect(() => rethrowAsEngineFault(broken)).toThrow("TypeError: x is undefined");
});

test("a workflow on which the engine fails repeatedly is given up with the reason, and others are not", () => {
  const faults = new FaultCounter();
  for (let i = 0; i < 7; i++) faults.record("a", fault, i * 60_000);
  faults.record("b", fault, 0);
  expect(faults.abandonReason("a")).toBeUndefined();
  faults.record("a", fault, 480_000);
  expect(faults.abandonReason("a")).toBe("the engine has failed 8 times in a row on this execution: TypeError: x is undefined");
  expect(faults.abandonReason("b")).toBeUndefined();
  faults.forget("a");
  expect(faults.abandonReason("a")).toBeUndefined();
});

test("occasional engine faults do not add up", () => {
  const faults = new FaultCounter();
  for (let i = 0; i < 20; i++) faults.record("a", fault, i * 601_000);
  expect(faults.abandonReason("a")).toBeUndefined();
});
