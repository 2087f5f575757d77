import { expect, test } from "vitest";
import type { MemoryUse } from "../memory.js";
import { meanMemory, quantiles, type SoakTenth } from "./soak-figures.js";
import { soakPlot } from "./soak-plot.js";

const tenth = (index: number, admin: number): SoakTenth => ({
  ended: (index + 1) * 100,
  seconds: 1,
  rate: 100,
  create: { p50: 10, p99: 20 },
  queue: { p50: 10, p99: 20 },
  memory: { total: admin + 40, parts: { admin, pod: 40 } },
  databaseMib: 200,
  auditLogMib: 50,
  deleted: 0,
});
const lines = (svg: string) =>
  [...svg.matchAll(/<polyline points="([^"]+)"/g)].map(([, points = ""]) => points.split(" ").map((point) => point.split(",").map(Number)));

test("a plot has one line for each figure, with a point for each tenth from left to right", () => {
  const drawn = lines(soakPlot([tenth(0, 200), tenth(1, 210), tenth(2, 220)]));
  expect(drawn.map((points) => points.length)).toEqual([3, 3, 3, 3, 3, 3, 3, 3, 3]);
  for (const points of drawn) expect(points.map(([x]) => x)).toEqual([52, 181, 310]);
});

test("a figure that does not change is drawn level, one that grows rises", () => {
  const drawn = lines(soakPlot([tenth(0, 100), tenth(1, 200)]));
  const heights = drawn.map(([first, last]) => Math.sign((first?.[1] ?? 0) - (last?.[1] ?? 0)));
  // Rate, four latencies, memory of admin, memory of the pod plugin, database.
  expect(heights).toEqual([0, 0, 0, 0, 0, 1, 0, 0, 0]);
});

test("labels of lines that end in the same place stand below one another", () => {
  const svg = soakPlot([tenth(0, 100), tenth(1, 100)]);
  const labels = [...svg.matchAll(/y="([\d.]+)" fill="[^"]+">(?:queue|create) p\d\d/g)].map(([, y]) => Number(y)).toSorted((a, b) => a - b);
  expect(labels).toHaveLength(4);
  for (const [index, y] of labels.slice(1).entries()) expect(y - (labels[index] ?? 0)).toBeGreaterThanOrEqual(13);
});

test("memory is the mean of samples, latencies are quantiles", () => {
  const samples: MemoryUse[] = [
    { total: 10, parts: { admin: 10 } },
    { total: 25, parts: { admin: 20, pod: 5 } },
  ];
  expect(meanMemory(samples)).toEqual({ total: 17.5, parts: { admin: 15, pod: 2.5 } });
  expect(quantiles(Array.from({ length: 100 }, (_, index) => 100 - index))).toEqual({ p50: 51, p99: 100 });
  expect(quantiles([])).toEqual({ p50: 0, p99: 0 });
});
