import { expect, test } from "vitest";
import { TokenBucket } from "./rate-limit.js";

test("at once what a second holds, then one after the other", () => {
  const limit = new TokenBucket(4);
  expect(Array.from({ length: 7 }, () => limit.reserve(10_000))).toEqual([0, 0, 0, 0, 250, 500, 750]);
  // Half a second later those times are nearer, and the next ones follow them.
  expect([limit.reserve(10_500), limit.reserve(10_500)]).toEqual([500, 750]);
  expect([limit.reserve(60_000), limit.reserve(60_000)]).toEqual([0, 0]);
});

test("less than one in a second", () => {
  const limit = new TokenBucket(0.5);
  expect([limit.reserve(0), limit.reserve(0), limit.reserve(1_000)]).toEqual([0, 2_000, 3_000]);
});
