import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { Code, RpcError } from "@flyte-ts/rpc";
import { beforeAll, expect, test } from "vitest";
import { Stage } from "./stage.fixture.js";

// `CONNECTORS=full`: as many tasks as one endpoint is promised to bear.
const isFull = process.env.CONNECTORS === "full";
const TASKS = isFull ? 10_000 : 200;
const CONCURRENT_CALLS = 100;
/** Memory of one task, of its record and of the test's own data about it, bytes. */
const MAX_TASK_BYTES = 40 * 1024;
const MAX_RSS_GROWTH_BYTES = 600 * 1024 * 1024;

let stage: Stage;
const polls = () => [...stage.toys.jobs.values()].map((job) => job.polls);
/** Calls of GetTask for each task in a time. */
const pollsWithin = async (durationMs: number) => {
  const before = polls();
  await stage.clock.advance(durationMs);
  return polls().map((count, index) => count - (before[index] ?? 0));
};
/** Heap in use after a collection, bytes. */
const heapBytes = () => {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
};
const before = { heap: 0, rss: 0 };

beforeAll(async () => {
  const limits = { callsPerSecond: 100_000, burst: 100_000, concurrentCalls: CONCURRENT_CALLS };
  const settings = { endpoints: [{ name: "toys", address: "toys:1", limits }], polling: { initialMs: 500, growth: 1, maxMs: 900 } };
  stage = await Stage.start({ settings });
  before.heap = heapBytes();
  before.rss = process.memoryUsage().rss;
  for (let index = 0; index < TASKS; index++) await stage.send(stage.numbered(index));
  await stage.clock.advance(65_000);
}, 900_000);

test("after its first minute a task is polled at most once a second, and each one is", async () => {
  expect(polls()).toHaveLength(TASKS);
  const counts = await pollsWithin(30_000);
  expect(Math.max(...counts)).toBeLessThanOrEqual(30);
  expect(Math.min(...counts)).toBeGreaterThan(20);
}, 900_000);

test.runIf(isFull)("the memory of tasks in progress is bounded", () => {
  expect((heapBytes() - before.heap) / TASKS).toBeLessThan(MAX_TASK_BYTES);
  expect(process.memoryUsage().rss - before.rss).toBeLessThan(MAX_RSS_GROWTH_BYTES);
});

test("an endpoint that is away for a minute is asked rarely, and then every task goes on", async () => {
  const callsBefore = stage.toys.calls.length;
  stage.toys.onCall = () => {
    throw new RpcError(Code.UNAVAILABLE, "away", { notSent: true });
  };
  await stage.clock.advance(60_000);
  // Discovery asks for the task types once a second.
  const discoveries = 60;
  expect(stage.toys.calls.length - callsBefore).toBeLessThan(CONCURRENT_CALLS + 50 + discoveries);
  stage.toys.onCall = () => undefined;
  const counts = await pollsWithin(60_000);
  expect(Math.min(...counts)).toBeGreaterThan(0);
  const phases = new Set(stage.bus.events.map(({ event }) => Phase[event?.phase ?? 0]));
  expect(phases).toEqual(new Set(["QUEUED", "RUNNING"]));
}, 900_000);
