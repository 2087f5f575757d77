import { expect, test } from "vitest";
import { ManualTime } from "./manual-time.js";
import { startPeriodic } from "./periodic.js";

function start(run: (batchSize: number) => Promise<number>, time = new ManualTime()) {
  const failures: unknown[] = [];
  const log = { failed: (failure: object) => void failures.push(failure) };
  const task = startPeriodic({ name: "cleanup", intervalMs: 1_000, batchSize: 2, run, errorMessage: "cleanup failed" }, log, time);
  return { time, failures, task };
}

test("runs now, again at once after a full batch, and then every interval", async () => {
  const found = [2, 2, 1, 0, 2, 0];
  const ranAt: number[] = [];
  const time = new ManualTime();
  const { task } = start(() => {
    ranAt.push(time.elapsed());
    return Promise.resolve(found[ranAt.length - 1] ?? 0);
  }, time);
  await time.advance(2_500);
  expect(ranAt).toEqual([0, 0, 0, 1_000, 2_000, 2_000]);
  await task.close();
});

test("records a failure and continues at the next interval", async () => {
  let runs = 0;
  const { time, failures, task } = start(() => (++runs === 1 ? Promise.reject(new Error("no database")) : Promise.resolve(0)));
  await time.advance(1_500);
  expect(failures).toEqual([{ task: "cleanup", error: new Error("no database"), message: "cleanup failed" }]);
  expect(runs).toBe(2);
  await task.close();
});

test("closing waits for the run in progress and starts no other", async () => {
  let finish: (found: number) => void = () => undefined;
  let runs = 0;
  const { time, task } = start(() => {
    runs++;
    return new Promise<number>((resolve) => (finish = resolve));
  });
  await time.advance(0);
  let closed = false;
  const closing = task.close().then(() => (closed = true));
  await time.advance(0);
  expect(closed).toBe(false);
  finish(2);
  await closing;
  expect([runs, time.pending]).toEqual([1, 0]);
});
