import { describe, expect, it } from "vitest";
import { backoffDelay } from "@flyte-ts/async/backoff";
import { decideRetry } from "./retry.js";

const user = { code: "E", message: "m", kind: "USER" };
const budgets = { maxAttempts: 2, maxSystemFailures: 3 };

describe("decideRetry", () => {
  it("uses a separate budget for each cause", () => {
    expect(decideRetry(user, { attempt: 0, systemFailures: 0 }, budgets)).toEqual({ retry: true, cause: "user" });
    // Two attempts were lost to system failures, so this is the first user failure.
    expect(decideRetry(user, { attempt: 2, systemFailures: 2 }, budgets).retry).toBe(true);
    expect(decideRetry(user, { attempt: 1, systemFailures: 0 }, budgets).retry).toBe(false);
    expect(decideRetry({ ...user, kind: "SYSTEM" }, { attempt: 5, systemFailures: 2 }, budgets)).toEqual({ retry: true, cause: "system" });
  });

  it("names the exhausted budget, and counts an unknown cause as the user's", () => {
    expect(
      decideRetry(
        { code: "OutputsNotFound", message: "none", timestamp: "2026-11-21T10:00:00Z" },
        { attempt: 0, systemFailures: 0 },
        { ...budgets, maxAttempts: 1 },
      ),
    ).toEqual({
      retry: false,
      error: { code: "RetriesExhausted|OutputsNotFound", kind: "USER", message: "[1/1] currentAttempt done. Last Error: UNKNOWN::none" },
    });
  });
});

describe("backoffDelay", () => {
  const config = { initialMs: 100, factor: 2, maxMs: 1_000, jitter: 0.5 };
  it("grows up to the maximum, less a random part", () => {
    expect([0, 1, 2, 9].map((n) => backoffDelay(config, n, () => 0))).toEqual([100, 200, 400, 1_000]);
    expect(backoffDelay(config, 9, () => 0.5)).toBe(750);
    expect(backoffDelay(config, 5_000, () => 0)).toBe(1_000);
  });
});
