import { expect, test, vi } from "vitest";
import { ManualTime } from "./manual-time.js";
import { resolvesWithin } from "./resolves-within.js";

test("work that is done in time resolves to true and leaves no timer", async () => {
  const cancel = vi.fn<() => void>();
  expect(await resolvesWithin(Promise.resolve(), 10, { schedule: () => cancel })).toBe(true);
  expect(cancel).toHaveBeenCalledOnce();
});

test("work that takes longer resolves to false at the limit", async () => {
  const clock = new ManualTime();
  let settled = false;
  const result = resolvesWithin(new Promise(() => undefined), 10, clock).finally(() => (settled = true));
  await clock.advance(9);
  expect(settled).toBe(false);
  await clock.advance(1);
  expect(await result).toBe(false);
});

test("work that fails in time rejects and leaves no timer", async () => {
  const cancel = vi.fn<() => void>();
  await expect(resolvesWithin(Promise.reject(new Error("no")), 10, { schedule: () => cancel })).rejects.toThrow("no");
  expect(cancel).toHaveBeenCalledOnce();
});
