import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { LogGrowthRecorder, readTimes } from "./container-log.js";
import { logFile, logTimesFile, type RunDir } from "./run-dir.js";

function newRun(): RunDir {
  const path = mkdtempSync(join(tmpdir(), "flyte-ts-log-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return { path } as RunDir;
}

test("a log that exceeds the limit is truncated when it cannot be copied", () => {
  const run = newRun();
  const recorder = new LogGrowthRecorder(run, 10);
  writeFileSync(logFile(run), "0123456789abc");
  mkdirSync(`${logFile(run)}.1`);
  recorder.sample(1);
  expect(statSync(logFile(run)).size).toBe(0);
  writeFileSync(logFile(run), "next");
  recorder.sample(2);
  expect(readTimes(run)).toEqual([{ end: 4, at: 2 }]);
});

test("growth that cannot be recorded does not stop the recorder", () => {
  const run = newRun();
  const recorder = new LogGrowthRecorder(run, 10);
  writeFileSync(logFile(run), "one");
  mkdirSync(logTimesFile(run));
  recorder.sample(1);
  rmSync(logTimesFile(run), { recursive: true });
  writeFileSync(logFile(run), "one two");
  recorder.sample(2);
  expect(readTimes(run)).toEqual([{ end: 7, at: 2 }]);
});
