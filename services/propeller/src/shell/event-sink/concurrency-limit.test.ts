import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ConcurrencyLimit } from "./concurrency-limit.js";

const MAX = 64;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A caller that makes as many calls as the limit allows, to a server with the latency given. */
function saturate(latencyMs: (inFlight: number) => number) {
  const limit = new ConcurrencyLimit({ max: MAX, now: () => performance.now() });
  const load = { inFlight: 0, latencyMs };
  const call = () => new Promise<void>((resolve) => setTimeout(resolve, load.latencyMs(load.inFlight)));
  const fill = (): void => {
    while (load.inFlight < limit.current) {
      load.inFlight++;
      void limit.measure(call).then(() => {
        load.inFlight--;
        fill();
      });
    }
  };
  fill();
  return { limit, load };
}

test.each([5, 150, 1_000])("the limit reaches the maximum at a server that answers any number of calls in %d ms", async (latencyMs) => {
  const { limit } = saturate(() => latencyMs);
  await vi.advanceTimersByTimeAsync(10 * latencyMs);
  expect(limit.current).toBe(MAX);
});

test("the limit falls at a saturated server and grows again after it", async () => {
  const { limit, load } = saturate(() => 20);
  await vi.advanceTimersByTimeAsync(1_000);
  load.latencyMs = (inFlight) => 30 * inFlight;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(limit.current).toBeLessThanOrEqual(5);
  load.latencyMs = () => 20;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(limit.current).toBe(MAX);
});

test("calls below the limit do not raise it, and errors are no measure of a fast server", async () => {
  const limit = new ConcurrencyLimit({ max: MAX, now: () => performance.now() });
  const { current } = limit;
  for (let call = 0; call < 100; call++) {
    await limit.measure(() => Promise.resolve());
    await limit.measure(() => Promise.reject(new Error("away"))).catch(() => undefined);
  }
  expect(limit.current).toBe(current);
});
