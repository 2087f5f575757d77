import { describe, expect, it, test } from "vitest";
import { causeOfStatus, retryAfterMs } from "./call/api-error.js";
import { JobLimits } from "./job/job-limits.js";
import { apiOfState, decodePluginState, encodeCreated, encodeCreating } from "./job/plugin-state.js";
import { pollInterval } from "./job/poll-interval.js";

test("a job is read after a tenth of its age, within the bounds, spread by a tenth", () => {
  const settings = { initialMs: 1_000, maxMs: 30_000 };
  const intervals = [0, 5_000, 60_000, 200_000, 10_000_000].map((ageMs) => pollInterval(settings, ageMs, () => 0));
  expect(intervals).toEqual([1_000, 1_000, 6_000, 20_000, 30_000]);
  expect(pollInterval(settings, 60_000, () => 0.999)).toBe(5_401);
});

describe("the plugin state", () => {
  it("names the API, whether the job was created, and the job", () => {
    expect(decodePluginState(encodeCreating("batch"), "batch")).toEqual({ kind: "creating" });
    const created = encodeCreated("batch", { jobId: "x" });
    expect(decodePluginState(created, "batch")).toEqual({ kind: "created", job: { jobId: "x" }, lost: false });
    expect(decodePluginState(encodeCreated("batch", { jobId: "x" }, { lost: true }), "batch")).toMatchObject({ lost: true });
    expect(apiOfState(created)).toBe("batch");
  });

  it("counts as none when it is empty, of another API or of another plugin", () => {
    const none = { kind: "none" };
    expect(decodePluginState(encodeCreating("athena"), "batch")).toEqual(none);
    expect(decodePluginState(new Uint8Array(), "batch")).toEqual(none);
    expect(decodePluginState(new Uint8Array([1, 2, 3]), "batch")).toEqual(none);
    expect(decodePluginState(Buffer.from("null"), "batch")).toEqual(none);
  });

  it("has at most 4 KiB", () => {
    expect(() => encodeCreated("trino", { next: "x".repeat(5_000) })).toThrow(RangeError);
  });
});

test("limits count attempts once, in all and per project and namespace, and free their places", () => {
  const limits = new JobLimits("batch", { maxJobs: 3, maxJobsPerProject: 2, maxJobsPerNamespace: 1 });
  const scope = (project: string, namespace: string) => ({ project, namespace });
  expect(limits.acquire("a", scope("p", "p-d"))).toBeUndefined();
  expect(limits.acquire("a", scope("p", "p-d"))).toBeUndefined();
  expect(limits.acquire("b", scope("p", "p-d"))).toContain("1 jobs of namespace p-d");
  expect(limits.acquire("b", scope("p", "p-s"))).toBeUndefined();
  expect(limits.acquire("c", scope("p", "p-p"))).toContain("2 jobs of project p");
  expect(limits.acquire("c", scope("q", "q-d"))).toBeUndefined();
  expect(limits.acquire("d", scope("r", "r-d"))).toContain("3 jobs;");
  limits.release("a");
  limits.release("a");
  expect(limits.size).toBe(2);
  expect(limits.acquire("d", scope("p", "p-d"))).toBeUndefined();
});

test("HTTP statuses and Retry-After headers are classified", () => {
  expect([400, 401, 403, 404, 408, 409, 410, 422, 429, 500, 503].map(causeOfStatus)).toEqual([
    "invalid",
    "denied",
    "denied",
    "missing",
    "unavailable",
    "invalid",
    "missing",
    "invalid",
    "throttled",
    "unavailable",
    "unavailable",
  ]);
  expect([retryAfterMs("3"), retryAfterMs(""), retryAfterMs(null), retryAfterMs("Wed, 21 Oct 2026 07:28:00 GMT")]).toEqual([
    3_000,
    undefined,
    undefined,
    undefined,
  ]);
});
