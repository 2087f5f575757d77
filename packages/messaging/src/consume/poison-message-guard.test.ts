import { createLogger } from "@flyte-ts/telemetry";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PoisonMessageGuard, SUSPICION_PERIOD_MS } from "./poison-message-guard.js";
import type { Delivery } from "./unpack-delivery.js";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

function guardOf(): PoisonMessageGuard {
  const done = () => Promise.resolve();
  return new PoisonMessageGuard({
    deadLetters: { store: done },
    markers: { mark: done, clear: done, markedSince: () => Promise.resolve(undefined) },
    publish: done,
    logger: createLogger({ service: "test", level: "silent" }),
    durable: "worker",
    ackWaitMs: 30_000,
  });
}

const delivered = (seq: number, deliveryCount: number) => ({ seq, subject: "work.a", info: { deliveryCount } }) as Delivery;

test("a process that subscribes an hour after its start suspects messages", () => {
  const guard = guardOf();
  vi.advanceTimersByTime(3_600_000);
  guard.start();
  vi.advanceTimersByTime(SUSPICION_PERIOD_MS - 1);
  expect([2, 3].map((deliveries) => guard.isSuspect(delivered(1, deliveries)))).toEqual([false, true]);
});

test("the period of suspicion ends, and a consumer that is created again starts no other", () => {
  const guard = guardOf();
  guard.start();
  vi.advanceTimersByTime(SUSPICION_PERIOD_MS + 1);
  guard.start();
  expect(guard.isSuspect(delivered(1, 3))).toBe(false);
});

test("a message that this process has taken before is not suspected", () => {
  const guard = guardOf();
  guard.start();
  guard.recordAccepted(delivered(1, 1));
  expect([1, 2].map((seq) => guard.isSuspect(delivered(seq, 3)))).toEqual([false, true]);
});
