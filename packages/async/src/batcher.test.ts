import { expect, test } from "vitest";
import { Batcher } from "./batcher.js";

/** Doubles numbers; batches end when the test lets them. */
function gated(options: { readonly maxWeight: number; readonly weightOf?: (item: number) => number; readonly refused?: number }) {
  const batches: (readonly number[])[] = [];
  const open: (() => void)[] = [];
  const batcher = new Batcher<number, number>({
    ...options,
    run: async (items) => {
      batches.push(items);
      await new Promise<void>((resolve) => open.push(resolve));
      if (items.includes(options.refused ?? Number.NaN)) throw new Error(`refused ${items.join()}`);
      return items.map((item) => item * 2);
    },
  });
  const next = async (count: number) => {
    await expect.poll(() => open.length).toBe(count);
    open.at(-1)?.();
  };
  return { batcher, batches, next };
}

test("items of one turn form a batch, and those that arrive meanwhile form the next one", async () => {
  const { batcher, batches, next } = gated({ maxWeight: 3 });
  const first = [1, 2].map((item) => batcher.process(item));
  await expect.poll(() => batches.length).toBe(1);
  const later = [3, 4, 5, 6].map((item) => batcher.process(item));
  for (const count of [1, 2, 3]) await next(count);
  expect(await Promise.all([...first, ...later])).toEqual([2, 4, 6, 8, 10, 12]);
  expect(batches).toEqual([[1, 2], [3, 4, 5], [6]]);
});

test("batches are bounded by weight, and an item above the bound is processed alone", async () => {
  const { batcher, batches, next } = gated({ maxWeight: 10, weightOf: (item) => item });
  const all = Promise.all([20, 4, 6, 1].map((item) => batcher.process(item)));
  for (const count of [1, 2, 3]) await next(count);
  expect(await all).toEqual([40, 8, 12, 2]);
  expect(batches).toEqual([[20], [4, 6], [1]]);
});

test("a failure reaches only the caller whose item fails alone", async () => {
  const { batcher, batches, next } = gated({ maxWeight: 10, refused: 2 });
  const all = Promise.allSettled([1, 2, 3].map((item) => batcher.process(item)));
  for (const count of [1, 2, 3, 4]) await next(count);
  expect((await all).map((each) => (each.status === "fulfilled" ? each.value : String(each.reason)))).toEqual([2, "Error: refused 2", 6]);
  expect(batches).toEqual([[1, 2, 3], [1], [2], [3]]);
});
