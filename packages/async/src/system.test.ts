import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { systemTime } from "./system.js";

test("runs an action after its delay unless it is cancelled", async () => {
  const actions: string[] = [];
  systemTime.schedule(1, () => actions.push("ran"));
  const cancel = systemTime.schedule(1, () => actions.push("cancelled"));
  cancel();
  await sleep(20);
  expect(actions).toEqual(["ran"]);
});

test("waits longer than the longest timer of the platform", async () => {
  vi.useFakeTimers();
  try {
    const action = vi.fn();
    const days = 60 * 24 * 3_600_000;
    systemTime.schedule(days, action);
    await vi.advanceTimersByTimeAsync(days - 1);
    expect(action).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(action).toHaveBeenCalledOnce();
  } finally {
    vi.useRealTimers();
  }
});

test("an aborted signal ends a sleep", async () => {
  const abort = new AbortController();
  const slept = systemTime.sleep(60_000, abort.signal);
  abort.abort();
  await expect(slept).rejects.toMatchObject({ name: "AbortError" });
});
