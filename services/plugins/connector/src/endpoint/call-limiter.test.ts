import { ManualTime, settlePromises } from "@flyte-ts/async/manual-time";
import { expect, test } from "vitest";
import { CallLimiter, type Lane } from "./call-limiter.js";

/** Starts calls that run until the test ends them. */
function openCalls(limiter: CallLimiter) {
  const ends: (() => void)[] = [];
  const started: Lane[] = [];
  const call = (lane: Lane) =>
    limiter.run(lane, () => {
      started.push(lane);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  return { call, started, endOne: () => ends.shift()?.() };
}

test("no more calls run at once than allowed, and lanes take turns", async () => {
  const limiter = new CallLimiter({ callsPerSecond: 1_000, burst: 100, concurrentCalls: 2 }, new ManualTime());
  const { call, started, endOne } = openCalls(limiter);
  const calls = [...Array<Lane>(6).fill("poll"), "start", "stop"].map((lane) => call(lane as Lane));
  await settlePromises();
  expect(started).toEqual(["poll", "poll"]);
  expect(limiter.waiting).toBe(6);
  for (let i = 0; i < 6; i++) {
    endOne();
    await settlePromises();
  }
  expect(started).toEqual(["poll", "poll", "stop", "start", "poll", "poll", "poll", "poll"]);
  endOne();
  endOne();
  await Promise.all(calls);
  expect([limiter.waiting, limiter.running]).toEqual([0, 0]);
});

test("the rate holds after the burst", async () => {
  const clock = new ManualTime();
  const limiter = new CallLimiter({ callsPerSecond: 10, burst: 5, concurrentCalls: 1_000 }, clock);
  let started = 0;
  for (let i = 0; i < 100; i++) void limiter.run("poll", () => Promise.resolve(started++));
  await settlePromises();
  expect(started).toBe(5);
  await clock.advance(1_000);
  expect(started).toBe(15);
  await clock.advance(8_500);
  expect(started).toBe(100);
});

test("a failed call frees its place", async () => {
  const limiter = new CallLimiter({ callsPerSecond: 10, burst: 5, concurrentCalls: 1 }, new ManualTime());
  await expect(limiter.run("poll", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  await expect(limiter.run("poll", () => Promise.resolve(1))).resolves.toBe(1);
});
