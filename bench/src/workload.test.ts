import { expect, test } from "vitest";
import { formatWorkload, parseWorkloads } from "./workload.js";

const defaults = { leaf: "echo", executions: 1, sleepSeconds: 1 };

test("shapes are read one after the other, with the number of their executions", () => {
  const words = ["chain", "20", "fan-out", "20x100", "sleep", "40", "1000", "120"];
  expect(parseWorkloads(words, defaults)).toEqual([
    { shape: "chain", size: 20, leaf: "echo", executions: 1, sleepSeconds: 1 },
    { shape: "fan-out", size: 100, leaf: "echo", executions: 20, sleepSeconds: 1 },
    { shape: "fan-out", size: 1_000, leaf: "core-sleep", executions: 40, sleepSeconds: 120 },
  ]);
  expect(parseWorkloads(["map", "5"], { ...defaults, executions: 3 })?.map(formatWorkload)).toEqual(["map 3x5"]);
});

test.each([["chain"], ["chain", "0"], ["chain", "x"], ["chain", "1x2x3"], ["chain", "1.5"], ["tree", "3"], ["sleep", "1", "2"]])(
  "%s %s %s is none",
  (...words) => {
    expect(parseWorkloads(words.filter(Boolean), defaults)).toBeUndefined();
  },
);
