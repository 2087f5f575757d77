import { expect, test } from "vitest";
import { pollDelay } from "./poll-delay.js";

const config = { initialMs: 500, growth: 1.5, maxMs: 10_000 };
const delay = (polls: number, ageMs = 0, over = {}) => pollDelay({ ...config, ...over }, { polls, ageMs, random: () => 0 });

test("the delay grows from the initial one to the maximum", () => {
  expect([0, 1, 2, 3].map((polls) => delay(polls))).toEqual([500, 750, 1_125, 1_688]);
  expect(delay(100)).toBe(10_000);
  expect(delay(100_000)).toBe(10_000);
});

test("jitter shortens it by at most a fifth", () => {
  expect(pollDelay(config, { polls: 100, ageMs: 0, random: () => 0.999 })).toBeGreaterThanOrEqual(8_000);
});

test("after a minute a task is polled at most once a second", () => {
  expect(delay(0, 59_000, { maxMs: 100 })).toBe(100);
  expect(delay(0, 60_000, { maxMs: 100 })).toBe(1_000);
});
