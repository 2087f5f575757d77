import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { describeWorkload, groupComparison, groupRuns, readResultFiles, resultOf, type Run } from "./record.js";
import { figureOf, mergeResults } from "./result-file.js";
import { formatFigure, replaceTable, resultsTable } from "./results-table.js";

const DOCUMENT = new URL("../../../docs/benchmarks.md", import.meta.url);
const run = (size: number, seconds: number, failed = 0): Run => ({ topology: "chain", size, executions: 1, seconds, failed });

test("the table of docs/benchmarks.md agrees with bench/results", () => {
  const document = readFileSync(DOCUMENT, "utf8");
  expect(document).toBe(replaceTable(document, resultsTable(readResultFiles())));
});

test("a document without the markers of the table is refused", () => {
  expect(() => replaceTable("no markers", "table")).toThrow("lacks");
});

describe("a figure", () => {
  test.each([
    [{ unit: "s", median: 0.05, min: 0.05, max: 0.07, runs: 3 }, "0.05 s (0.05–0.07; 3)"],
    [{ unit: "s", values: [29.2, 27.4] }, "29.2, 27.4 s"],
    [{ unit: "s", values: [1.87] }, "1.87 s (1)"],
    [{ unit: "s", median: 5.4, min: 5.4, max: 5.6, runs: 3, digits: 1 }, "5.4 s (5.4–5.6; 3)"],
    [
      {
        unit: "MiB",
        values: [
          [643, 1_182],
          [641, 1_192],
        ],
        digits: 0,
      },
      "643, 1,182; 641, 1,192 MiB",
    ],
    [{ unit: "/s", median: 5_129, note: ", p99 14 ms" }, "5,129/s, p99 14 ms"],
    [{ unit: "s", min: 0.17, max: 0.21 }, "0.17–0.21 s"],
  ])("%j is formatted as %s", (figure, text) => {
    expect(formatFigure(figure)).toBe(text);
  });

  test("has the median and range of five runs", () => {
    expect(figureOf([3, 1, 2, 5, 4], "s")).toEqual({ unit: "s", median: 3, min: 1, max: 5, runs: 5 });
  });
});

describe("recorded runs", () => {
  test("count the last run of a workload on each stack, without failures", () => {
    const groups = groupRuns([
      [run(20, 9), run(20, 1), run(100, 7)],
      [run(20, 8), run(20, 2), run(100, 6, 1)],
    ]);
    expect(groups.map(({ workload, seconds }) => [workload.size, seconds])).toEqual([
      [20, [1, 2]],
      [100, [7]],
    ]);
  });

  test("on both endpoints give the ratio of the medians", () => {
    const [measured] = groupComparison([run(20, 1), run(20, 2), run(20, 3)], [run(20, 20), run(20, 30), run(20, 10)]);
    expect(measured && resultOf(measured, { commit: "abcdef0", date: "2026-11-23" })).toEqual({
      workload: "chain of 20 beside Go Flyte",
      figure: { unit: "s", median: 2, min: 1, max: 3, runs: 3 },
      goFlyte: { unit: "s", median: 20, min: 10, max: 30, runs: 3 },
      ratio: 10,
      commit: "abcdef0",
      date: "2026-11-23",
    });
  });

  test("replace the results of their workloads, keep targets, and append new workloads", () => {
    const result = (workload: string, commit: string) => ({ workload, figure: figureOf([1], "s"), commit, date: "2026-11-23" });
    const file = { title: "t", order: 1, machine: "m", results: [{ ...result("a", "old"), target: "2 s" }, result("b", "old")] };
    const merged = mergeResults(file, [result("a", "new"), result("c", "new")]);
    expect(merged.results.map(({ workload, target, commit }) => [workload, target, commit])).toEqual([
      ["a", "2 s", "new"],
      ["b", undefined, "old"],
      ["c", undefined, "new"],
    ]);
  });
});

test.each([
  [{ topology: "chain", size: 2_000, executions: 1 }, "chain of 2,000"],
  [{ topology: "fan-out", size: 100, executions: 20 }, "fan-out 20 × 100"],
] as const)("the workload %j is named %s", (workload, name) => {
  expect(describeWorkload(workload)).toBe(name);
});
