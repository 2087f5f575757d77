import { expect, test } from "vitest";
import { formatWorkload, parseWorkloads } from "./workload.js";

const defaults = { taskKind: "echo", executions: 1, sleepSeconds: 1 };

test("arguments are parsed into workloads with the number of their executions", () => {
  const words = ["chain", "20", "fan-out", "20x100", "sleep", "40", "1000", "120"];
  expect(parseWorkloads(words, defaults)).toEqual([
    { topology: "chain", size: 20, taskKind: "echo", executions: 1, sleepSeconds: 1 },
    { topology: "fan-out", size: 100, taskKind: "echo", executions: 20, sleepSeconds: 1 },
    { topology: "fan-out", size: 1_000, taskKind: "core-sleep", executions: 40, sleepSeconds: 120 },
  ]);
  expect(parseWorkloads(["map", "5"], { ...defaults, executions: 3 })?.map(formatWorkload)).toEqual(["map 3x5"]);
});

test.each([["chain"], ["chain", "0"], ["chain", "x"], ["chain", "1x2x3"], ["chain", "1.5"], ["tree", "3"], ["sleep", "1", "2"]])(
  "%s %s %s is not a workload",
  (...words) => {
    expect(parseWorkloads(words.filter(Boolean), defaults)).toBeUndefined();
  },
);
