import { expect, test } from "vitest";
import { Lazy } from "./lazy.js";

test("loads once, and again after a failed load", async () => {
  let loads = 0;
  const value = new Lazy(() => (++loads === 1 ? Promise.reject(new Error("unavailable")) : Promise.resolve(loads)));
  expect(value.loaded).toBeUndefined();
  const failed = await Promise.allSettled([value.get(), value.get()]);
  expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await Promise.all([value.get(), value.get(), value.loaded])).toEqual([2, 2, 2]);
  expect(loads).toBe(2);
});
