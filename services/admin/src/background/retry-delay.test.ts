import { expect, test } from "vitest";
import { backoffDelay } from "./retry-delay.js";

const pauses = { firstMs: 500, longestMs: 30_000 };

test("delays double up to a limit and are spread", () => {
  expect([1, 2, 3].map((attempts) => backoffDelay(pauses, attempts, () => 1))).toEqual([500, 1000, 2000]);
  expect(backoffDelay(pauses, 1, () => 0)).toBe(250);
  expect(backoffDelay(pauses, 1000, () => 1)).toBe(30_000);
});
