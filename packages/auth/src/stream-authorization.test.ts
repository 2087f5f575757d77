import { type CallContext, Code, RpcError } from "@flyte-ts/rpc";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { runWhileAuthorized } from "./stream-authorization.js";

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

const clock = () => new Date();
const caller = new AbortController();
const context = { requestId: "r", signal: caller.signal } as CallContext;

/**
 * Expects that no timer is left that would check the token again. Counts reads of the clock: test
 * files share a process, so timers of others may be pending.
 */
async function expectNoMoreChecks(clock: { readonly mock: { readonly calls: readonly unknown[] } }) {
  const before = clock.mock.calls.length;
  await vi.advanceTimersByTimeAsync(600_000);
  expect(clock.mock.calls.length).toBe(before);
}

/** A stream that runs until its signal is aborted; records the reason. */
function stream() {
  const observed: { reason?: unknown } = {};
  const run = ({ signal }: CallContext) =>
    new Promise((resolve) => {
      signal.addEventListener("abort", () => {
        observed.reason = signal.reason as unknown;
        resolve("stopped");
      });
    });
  return { observed, run };
}

test("a stream ends when its token expires, and its handler and its client get the reason", async () => {
  const { observed, run } = stream();
  const recheck = vi.fn(async () => undefined);
  const clock = vi.fn(() => new Date());
  const running = runWhileAuthorized(context, { expiresAt: 150_000, recheck, clock, recheckIntervalMs: 60_000 }, run);
  const failure = running.catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(149_999);
  expect([observed.reason, recheck.mock.calls.length]).toEqual([undefined, 2]);
  await vi.advanceTimersByTimeAsync(1);
  expect(await failure).toMatchObject({ code: Code.UNAUTHENTICATED, message: "the token has expired" });
  expect(observed.reason).toBe(await failure);
  await expectNoMoreChecks(clock);
});

test("a stream ends when the caller loses the required role", async () => {
  const { observed, run } = stream();
  let allowed = true;
  const recheck = async () => {
    if (!allowed) throw new RpcError(Code.PERMISSION_DENIED, "role viewer is needed");
  };
  const running = runWhileAuthorized(context, { expiresAt: Number.MAX_SAFE_INTEGER, recheck, clock, recheckIntervalMs: 60_000 }, run);
  const failure = running.catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(observed.reason).toBeUndefined();
  allowed = false;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await failure).toMatchObject({ code: Code.PERMISSION_DENIED });
});

test("a stream that ends by itself leaves no timer, and its handler gets the call's context", async () => {
  const recheck = async () => undefined;
  const clock = vi.fn(() => new Date());
  const run = async ({ requestId }: CallContext) => requestId;
  expect(await runWhileAuthorized(context, { expiresAt: 1_000, recheck, clock, recheckIntervalMs: 60_000 }, run)).toBe("r");
  await expectNoMoreChecks(clock);
});
