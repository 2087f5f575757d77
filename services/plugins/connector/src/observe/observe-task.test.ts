import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { DesiredState } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { Code, RpcError } from "@flyte-ts/rpc";
import { expect, test } from "vitest";
import { Stage } from "../stage.fixture.js";

const line = (seconds: number, message: string) => ({ timestamp: { seconds: BigInt(seconds), nanos: 5 }, message });
const logOf = (stage: Stage, index: number) => {
  const bytes = stage.store.blobs.get(`s3://bucket/n${index}/0/logs/connector.log`);
  return bytes && Buffer.from(bytes).toString();
};
const countCalls = (stage: Stage, name: string) => stage.toys.calls.filter((call) => call === name).length;

/** Runs a task to its end. */
async function runTask(stage: Stage, index = 1, resource: object = { phase: Phase.SUCCEEDED }): Promise<void> {
  const request = stage.numbered(index);
  await stage.send(request);
  await stage.clock.advance(1_000);
  Object.assign(stage.toys.jobs.get(request.outputPrefix) ?? {}, { resource });
  await stage.clock.advance(20_000);
}

test("the log of an ended task is stored, and linked as the archived log of a pod is", async () => {
  const stage = await Stage.start();
  stage.toys.logs = [
    { structuredLines: [line(0, "first"), line(1, "two\nlines\n")] },
    { structuredLines: [{ message: "no time" }] },
    { results: ["old"] },
  ];
  await runTask(stage, 1, { phase: Phase.FAILED, message: "broken", logLinks: [{ name: "Console", uri: "https://jobs/1" }] });
  expect(stage.end.phase).toBe("FAILED");
  expect(stage.last?.event?.logs.map(({ name, uri }) => [name, uri])).toEqual([
    ["Console", "https://jobs/1"],
    ["Archived log of connector", "s3://bucket/n1/0/logs/connector.log"],
  ]);
  const stamp = (second: number) => `1970-01-01T00:00:0${second}.000000005Z`;
  expect(logOf(stage, 1)).toBe(`${stamp(0)} first\n${stamp(1)} two\n${stamp(1)} lines\nno time\nold\n`);
});

test("the end of a long log is kept", async () => {
  const stage = await Stage.start({ settings: { taskLogs: { enabled: true, maxBytes: 1_000 } } });
  stage.toys.logs = Array.from({ length: 300 }, (_, index) => ({ results: [`line ${index} of many`] }));
  await runTask(stage);
  expect(logOf(stage, 1)).toHaveLength(1_000);
  expect(logOf(stage, 1)).toMatch(/line 298 of many\nline 299 of many\n$/);
});

test("metrics of an ended task are part of its custom info, with the information of the connector", async () => {
  const settings = { taskMetrics: { enabled: true, stepMs: 15_000, queriesOfTaskTypes: { toy: ["cpu"] } } };
  const stage = await Stage.start({ settings });
  stage.toys.metrics = { cpu: { result: [1, 2] } };
  await stage.clock.advance(0.3);
  await runTask(stage, 1, { phase: Phase.SUCCEEDED, customInfo: { cost: 2 } });
  expect(stage.last?.event?.customInfo).toEqual({ cost: 2, metrics: { cpu: { result: [1, 2] } } });
  const [request] = stage.toys.metricRequests;
  expect(request).toMatchObject({ queries: ["cpu"], taskCategory: { name: "toy" }, step: { seconds: 15n } });
  expect(Number.isInteger(request?.startTime?.nanos)).toBe(true);
  const seconds = Number(request?.endTime?.seconds) - Number(request?.startTime?.seconds);
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThan(21);
});

test("metrics that are too large for an event are left out", async () => {
  const stage = await Stage.start();
  stage.toys.metrics = { cpu: { result: "x".repeat(70_000) } };
  await runTask(stage);
  expect(stage.end.phase).toBe("SUCCEEDED");
  expect(stage.last?.event?.customInfo).toBeUndefined();
});

test("calls that a connector lacks are not repeated until its endpoint has been away", async () => {
  const stage = await Stage.start();
  const counts = () => [countCalls(stage, "GetTaskLogs"), countCalls(stage, "GetTaskMetrics")];
  for (const index of [1, 2, 3]) await runTask(stage, index);
  expect(stage.end.phase).toBe("SUCCEEDED");
  expect(counts()).toEqual([1, 1]);
  stage.toys.onCall = () => {
    throw new RpcError(Code.UNAVAILABLE, "restarts");
  };
  await stage.clock.advance(10_000);
  stage.toys.onCall = () => undefined;
  await stage.clock.advance(60_000);
  await runTask(stage, 4);
  expect(counts()).toEqual([2, 2]);
});

test("an UNKNOWN without a text, as flytekit's server answers, is a lack of the call", async () => {
  const stage = await Stage.start();
  stage.toys.onCall = (name) => {
    if (name === "GetTaskLogs") throw new RpcError(Code.UNKNOWN, "");
  };
  for (const index of [1, 2]) await runTask(stage, index);
  expect(stage.end.phase).toBe("SUCCEEDED");
  expect(countCalls(stage, "GetTaskLogs")).toBe(1);
});

test.each([Code.INTERNAL, Code.DEADLINE_EXCEEDED] as const)("a log that cannot be had does not change the end: %s", async (code) => {
  const stage = await Stage.start();
  stage.toys.metrics = { cpu: {} };
  stage.toys.onCall = (name) => {
    if (name === "GetTaskLogs") throw new RpcError(code, "no logs today");
  };
  await runTask(stage);
  expect(stage.end.phase).toBe("SUCCEEDED");
  expect(stage.last?.event?.logs).toEqual([]);
  expect(stage.last?.event?.customInfo).toEqual({ metrics: { cpu: {} } });
});

test("an abort does not wait for a log", async () => {
  const stage = await Stage.start();
  await stage.send(stage.numbered(1));
  stage.toys.onCall = (name) => (name === "GetTaskLogs" ? new Promise(() => undefined) : undefined);
  await stage.clock.advance(1_000);
  await stage.send(stage.numbered(1), DesiredState.ABORT);
  await stage.clock.advance(5_000);
  expect(stage.end.phase).toBe("ABORTED");
  expect(countCalls(stage, "GetTaskLogs")).toBe(0);
});

test("logs and metrics can be switched off", async () => {
  const settings = { taskLogs: { enabled: false, maxBytes: 1 }, taskMetrics: { enabled: false, stepMs: 1, queriesOfTaskTypes: {} } };
  const stage = await Stage.start({ settings });
  await runTask(stage);
  expect([countCalls(stage, "GetTaskLogs"), countCalls(stage, "GetTaskMetrics")]).toEqual([0, 0]);
});
