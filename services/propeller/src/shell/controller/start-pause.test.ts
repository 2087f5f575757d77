import { expect, test } from "vitest";
import { StartPause } from "./start-pause.js";

test("starts of a workflow take at most a tenth of the time beside other workflows", () => {
  const pause = new StartPause();
  expect(pause.until).toBe(0);
  let now = 1_000;
  let used = 0;
  while (now < 11_000) {
    const startedAt = Math.max(now, pause.until);
    now = startedAt + 5;
    used += 5;
    pause.record({ startedAt, now, shared: true });
  }
  expect(used).toBeGreaterThanOrEqual(990);
  expect(used).toBeLessThanOrEqual(1_010);
});

test("a workflow alone does not pause, and one without starts does not either", () => {
  const pause = new StartPause();
  pause.record({ startedAt: 1_000, now: 1_050, shared: true });
  expect(pause.until).toBe(1_500);
  pause.record({ startedAt: 1_060, now: 1_060, shared: true });
  expect(pause.until).toBeLessThanOrEqual(1_060);
  pause.record({ startedAt: 1_060, now: 1_110, shared: false });
  expect(pause.until).toBe(0);
});
