import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, expect, it } from "vitest";
import { heapGrowthPercent, setHeapGrowth } from "./heap-growth.js";

const MIB = 1024 * 1024;

let end: (() => void) | undefined;
afterEach(() => end?.());

it.each([
  [10, 60],
  [30, 160],
  [60, 120],
  [90, 80],
  [120, 60],
  [1_000, 60],
])("a heap of %d MiB may grow by %d %%", (mebibytes, percent) => {
  expect(heapGrowthPercent(mebibytes * MIB)).toBe(percent);
});

it("follows what full collections leave, and nothing after its end", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const percents: number[] = [];
  end = setHeapGrowth((percent) => percents.push(percent));
  const before = percents.length;
  const held = Array.from({ length: 30 * MIB }, (_, index) => index);
  collect();
  await expect.poll(() => percents.length).toBeGreaterThan(before);
  // More than 120 MiB of numbers are held.
  expect([held.length, percents.at(-1)]).toEqual([30 * MIB, 60]);
  end();
  const told = percents.length;
  collect();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(percents.length).toBe(told);
});
