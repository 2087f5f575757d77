import { expect, test } from "vitest";
import { closedLoop } from "./closed-loop.js";

test("calls that complete in time are counted with their latencies", async () => {
  let time = 0;
  const result = await closedLoop({
    callers: 1,
    warmUpSeconds: 1,
    seconds: 2,
    now: () => time,
    call: async (_, turn) => {
      // Every tenth call is slow.
      time += turn % 10 === 9 ? 110 : 10;
    },
  });
  expect(result).toEqual({ calls: 100, failed: 0, rate: 50, p50: 10, p99: 110, slowest: 110 });
});

test("callers do not wait for each other, and failures are reported but not counted", async () => {
  let time = 0;
  let waiting = 0;
  let most = 0;
  const result = await closedLoop({
    callers: 5,
    warmUpSeconds: 0,
    seconds: 1,
    now: () => time,
    call: async (caller) => {
      most = Math.max(most, ++waiting);
      await Promise.resolve();
      waiting--;
      time += 1;
      if (caller === 0) throw new Error("no");
    },
  });
  expect(most).toBe(5);
  expect(result.failure).toBe("Error: no");
  expect(result.failed).toBeGreaterThan(100);
  expect(result.calls).toBe(result.rate);
});
