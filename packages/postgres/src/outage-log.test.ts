import { beforeEach, expect, test, vi } from "vitest";
import { COLLECT_MS, OutageLog, QUIET_MS, taskFailures } from "./outage-log.js";

beforeEach(() => {
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});

const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });

function log() {
  const lines: unknown[] = [];
  const line = (level: string) => (fields: object, message: string) => void lines.push([level, fields, message]);
  const logger = { warn: line("warn"), info: line("info") } as never;
  const outages = new OutageLog(logger, () => Date.now());
  return { lines, outages, failures: taskFailures({ outages }, logger) };
}

test("an outage is one warning with the names of the postponed tasks, and one line when it is over", () => {
  const { lines, outages, failures } = log();
  for (let round = 0; round < 30; round++) {
    for (const task of ["retention", "completions", ...(round === 20 ? ["audit log"] : [])])
      failures.failed({ task, error: refused, message: "failed" });
    vi.advanceTimersByTime(1_000);
  }
  vi.advanceTimersByTime(QUIET_MS);
  outages.onAnswer();
  outages.onAnswer();
  expect(lines).toEqual([
    [
      "warn",
      { tasks: ["completions", "retention"], error: "Error: connect ECONNREFUSED" },
      "the database cannot be used: these tasks are postponed until it answers",
    ],
    ["info", { tasks: ["audit log", "completions", "retention"], durationMs: 29_000 }, "the database answers again: postponed tasks run"],
  ]);
});

test("single answers between failures do not end an outage", () => {
  const { lines, outages, failures } = log();
  for (let second = 0; second < 10; second++) {
    failures.failed({ task: "retention", error: refused, message: "failed" });
    outages.onAnswer();
    vi.advanceTimersByTime(1_000);
  }
  expect(lines).toHaveLength(1);
});

test("a second outage is logged again", () => {
  const { lines, outages, failures } = log();
  for (let outage = 0; outage < 2; outage++) {
    failures.failed({ task: "retention", error: refused, message: "failed" });
    vi.advanceTimersByTime(COLLECT_MS + QUIET_MS);
    outages.onAnswer();
  }
  expect(lines).toHaveLength(4);
});

test("other failures are logged by themselves", () => {
  const { lines, failures } = log();
  failures.failed({ task: "retention", error: new Error("division by zero"), message: "retention failed" });
  vi.advanceTimersByTime(COLLECT_MS);
  expect(lines).toEqual([["warn", { error: "Error: division by zero" }, "retention failed"]]);
});
