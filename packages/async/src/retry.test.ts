import { expect, test } from "vitest";
import { ManualTime } from "./manual-time.js";
import { retry } from "./retry.js";

const backoff = { initialMs: 100, maxMs: 300, random: () => 0 };

/** Fails the given number of times, and records when it was called. */
function failing(times: number, time: ManualTime) {
  const calledAt: number[] = [];
  const operation = (): Promise<string> => {
    calledAt.push(time.elapsed());
    return calledAt.length > times ? Promise.resolve("done") : Promise.reject(new Error(`failure ${calledAt.length}`));
  };
  return { calledAt, operation };
}

test("calls again with growing delays until the operation succeeds", async () => {
  const time = new ManualTime();
  const { calledAt, operation } = failing(4, time);
  const retries: unknown[] = [];
  const onRetry = (error: unknown, n: number, delayMs: number) => void retries.push([String(error), n, delayMs]);
  const result = retry(operation, { ...backoff, onRetry }, time);
  await time.advance(10_000);
  expect(await result).toBe("done");
  expect(calledAt).toEqual([0, 100, 300, 600, 900]);
  expect(retries[1]).toEqual(["Error: failure 2", 1, 200]);
});

test("throws an error that a retry cannot cure at once", async () => {
  const time = new ManualTime();
  const { calledAt, operation } = failing(1, time);
  await expect(retry(operation, { ...backoff, isRetryable: () => false }, time)).rejects.toThrow("failure 1");
  expect([calledAt.length, time.pending]).toEqual([1, 0]);
});

test("throws the last error after the maximum number of retries", async () => {
  const time = new ManualTime();
  const { calledAt, operation } = failing(9, time);
  const error = retry(operation, { ...backoff, maxRetries: 2 }, time).catch(String);
  await time.advance(10_000);
  expect(await error).toBe("Error: failure 3");
  expect(calledAt.length).toBe(3);
});

test("starts no retry after the timeout", async () => {
  const time = new ManualTime();
  const { calledAt, operation } = failing(9, time);
  const error = retry(operation, { ...backoff, timeoutMs: 599 }, time).catch(String);
  await time.advance(10_000);
  expect(await error).toBe("Error: failure 3");
  expect(calledAt).toEqual([0, 100, 300]);
});

test("an aborted signal ends the delay", async () => {
  const time = new ManualTime();
  const abort = new AbortController();
  const { operation } = failing(9, time);
  const error = retry(operation, { ...backoff, signal: abort.signal }, time).catch((reason: unknown) => reason);
  await time.advance(50);
  abort.abort();
  expect(await error).toMatchObject({ name: "AbortError" });
  expect(time.pending).toBe(0);
});
