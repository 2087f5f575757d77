import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, expect, it } from "vitest";
import { heapGrowthPercent, startHeapGrowthControl } from "./heap-growth.js";

const MIB = 1024 * 1024;

let end: (() => void) | undefined;
afterEach(() => end?.());

it.each([
  [20, 60],
  [40, 120],
  [120, 100],
  [160, 75],
  [240, 60],
  [1_000, 60],
])("a heap of %d MiB may grow by %d %%", (mebibytes, percent) => {
  expect(heapGrowthPercent(mebibytes * MIB)).toBe(percent);
});

it.each([
  [20, 60],
  [100, 60],
  [1_000, 60],
])("a heap of %d MiB may grow by %d %% where that is the maximum", (mebibytes, percent) => {
  expect(heapGrowthPercent(mebibytes * MIB, 60)).toBe(percent);
});

it("the control follows the heap, and does nothing after its end", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const percents: number[] = [];
  const held = new Map<number, readonly number[]>();
  const hold = (count: number) => {
    for (let key = 0; key < count; key++)
      held.set(
        key,
        Array.from({ length: MIB }, (_, index) => index),
      );
  };
  end = startHeapGrowthControl(undefined, (percent) => percents.push(percent));
  const percentAfterCollection = () => {
    collect();
    return percents.at(-1);
  };
  hold(40);
  await expect.poll(percentAfterCollection).toBe(60);
  for (const key of held.keys()) if (key >= 6) held.delete(key);
  await expect.poll(percentAfterCollection).toBeGreaterThan(60);
  end();
  const changes = percents.length;
  hold(40);
  collect();
  await sleep(50);
  expect(percents.length).toBe(changes);
});
