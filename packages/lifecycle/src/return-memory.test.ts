import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, it } from "vitest";
import { startIdleGc } from "./return-memory.js";

let end: (() => void) | undefined;
afterEach(() => end?.());

it("collects when the process is idle and its memory has grown, and again only after further growth", async () => {
  let resident = 100;
  let collections = 0;
  end = startIdleGc({
    intervalMs: 5,
    minGrowthBytes: 50,
    maxIdleUtilization: 1.1,
    readRssBytes: () => resident,
    runGc: () => {
      collections++;
      resident = 60;
    },
  });
  await expect.poll(() => collections).toBe(1);
  await sleep(50);
  resident = 100;
  await sleep(50);
  expect(collections).toBe(1);
  resident = 110;
  await expect.poll(() => collections).toBe(2);
});

it("collects after large growth at once, and after small growth only when it lasts", async () => {
  let resident = 0;
  const collected: number[] = [];
  end = startIdleGc({
    intervalMs: 5,
    minGrowthBytes: 50,
    idleChecks: 1e9,
    urgentGrowthBytes: 1_000,
    maxIdleUtilization: 1.1,
    readRssBytes: () => resident,
    runGc: () => {
      collected.push(resident);
      resident = 0;
    },
  });
  resident = 999;
  await sleep(50);
  expect(collected).toEqual([]);
  resident = 1_000;
  await expect.poll(() => collected).toEqual([1_000]);
});

it("collects small growth after a longer time, and not when it has grown no further", async () => {
  let resident = 100;
  const collected: number[] = [];
  end = startIdleGc({
    intervalMs: 5,
    minGrowthBytes: 100,
    idleChecks: 1,
    slowGrowthBytes: 20,
    slowChecks: 4,
    maxIdleUtilization: 1.1,
    readRssBytes: () => resident,
    runGc: () => collected.push(resident),
  });
  await expect.poll(() => collected).toEqual([100]);
  resident = 119;
  await sleep(50);
  expect(collected).toEqual([100]);
  resident = 120;
  await expect.poll(() => collected).toEqual([100, 120]);
  await sleep(50);
  expect(collected).toEqual([100, 120]);
});

it("repeats a collection that freed nothing, after delays that double", async () => {
  let resident = 0;
  let held = 0;
  const collected: number[] = [];
  const options = { minGrowthBytes: 50, idleChecks: 2, urgentGrowthBytes: 50, maxIdleUtilization: 1.1, intervalMs: 5 };
  end = startIdleGc({
    ...options,
    readRssBytes: () => resident,
    runGc: () => {
      collected.push(resident);
      resident = held;
    },
  });
  resident = 60;
  await expect.poll(() => collected).toEqual([60]);
  held = 500;
  resident = 600;
  await expect.poll(() => collected.length).toBeGreaterThan(2);
  held = 0;
  await expect.poll(() => resident).toBe(0);
  expect(new Set(collected.slice(2))).toEqual(new Set([500]));
  const until = collected.length;
  await sleep(50);
  expect(collected.length).toBe(until);
});

it("does not collect in a busy process", async () => {
  let collections = 0;
  end = startIdleGc({ intervalMs: 5, minGrowthBytes: 0, maxIdleUtilization: 0, runGc: () => collections++ });
  await sleep(50);
  expect(collections).toBe(0);
});

it("collects unreachable memory", async () => {
  const garbage = new WeakRef({ large: Array.from({ length: 1_000 }, () => 0) });
  // A reference is held until the turn in which it was made has ended.
  await sleep(1);
  end = startIdleGc({ intervalMs: 5, minGrowthBytes: 0, maxIdleUtilization: 1.1 });
  await expect.poll(() => garbage.deref() === undefined).toBe(true);
});
