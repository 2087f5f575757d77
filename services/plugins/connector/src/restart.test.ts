import { mkdtempSync, openSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ExecutionError_ErrorKind as Kind, TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { taskRequestSubject } from "@flyte-ts/bus-contract";
import { create, toBinary } from "@bufbuild/protobuf";
import { DesiredState, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { BlobUnavailableError } from "@flyte-ts/blobstore";
import { createLogger } from "@flyte-ts/telemetry";
import { Code, RpcError } from "@flyte-ts/rpc";
import { describe, expect, test, vi } from "vitest";
import { Stage } from "./stage.fixture.js";

const recordUri = (outputPrefix: string) => `${outputPrefix}/connector-task.json`;
const job = (stage: Stage) => [...stage.toys.jobs.values()][0];

test("a process that died while it created leaves an attempt whose job may exist", async () => {
  const stage = await Stage.start();
  const request = stage.request();
  await stage.store.put(recordUri(request.outputPrefix), Buffer.from('{"v":1,"begun":true}'));
  await stage.send(request);
  expect(stage.end).toEqual({ phase: "FAILED", recoverable: true, kind: Kind.SYSTEM, code: "CreationUnknown" });
  expect(stage.toys.calls).not.toContain("CreateTask");
});

test("a record that was written without an answer is recognized, and the task is created once", async () => {
  const stage = await Stage.start();
  const put = stage.store.put.bind(stage.store);
  const lost = vi.spyOn(stage.store, "put").mockImplementationOnce(async (...written) => {
    await put(...written);
    throw new BlobUnavailableError(written[0], "connection reset");
  });
  await stage.send(stage.request());
  await stage.clock.advance(60_000);
  expect(lost.mock.calls[0]?.[0]).toBe(recordUri(stage.request().outputPrefix));
  expect(stage.history.filter((line) => line.includes("CreationUnknown"))).toEqual([]);
  expect(job(stage)?.starts).toBe(1);
});

test("an idempotent creation is repeated after such a death", async () => {
  const settings = { endpoints: [{ name: "toys", address: "toys:1", idempotentTaskTypes: ["toy"] }] };
  const stage = await Stage.start({ settings });
  await stage.store.put(recordUri(stage.request().outputPrefix), Buffer.from('{"v":1,"begun":true}'));
  await stage.send(stage.request());
  await stage.clock.advance(2_000);
  expect(stage.end.phase).toBe("RUNNING");
});

test("an abort after such a death says that a job may run", async () => {
  const stage = await Stage.start();
  await stage.store.put(recordUri(stage.request().outputPrefix), Buffer.from('{"v":1,"begun":true}'));
  await stage.send(stage.request(), DesiredState.ABORT);
  expect(stage.history).toEqual([expect.stringMatching(/^ABORTED .*may have created a job/)]);
});

test("an answer that an earlier process did not report fails the attempt for a retry, and the task is not run twice", async () => {
  const stage = await Stage.start();
  await stage.store.put(recordUri(stage.request().outputPrefix), Buffer.from('{"v":1,"ended":true}'));
  await stage.send(stage.request("sync-toy"));
  expect(stage.end).toEqual({ phase: "FAILED", recoverable: true, kind: Kind.SYSTEM, code: "ResultLost" });
  expect(stage.toys.calls).not.toContain("ExecuteTaskSync");
});

test("a restart while the connector is away leaves no attempt whose job may exist", async () => {
  const stage = await Stage.start();
  stage.toys.onCall = (name) => {
    if (name === "CreateTask") throw new RpcError(Code.UNAVAILABLE, "away", { notSent: true });
  };
  await stage.send(stage.request());
  expect(stage.history).toEqual([expect.stringMatching(/^WAITING_FOR_RESOURCES .*away$/)]);
  await stage.restart();
  stage.toys.onCall = () => undefined;
  await stage.send(stage.request());
  await stage.clock.advance(2_000);
  expect(job(stage)?.starts).toBe(1);
  expect(stage.end.phase).toBe("RUNNING");
});

test("a restart while creations wait for their turn leaves no attempt whose job may exist", async () => {
  const stage = await Stage.start({
    settings: { endpoints: [{ name: "toys", address: "toys:1", limits: { callsPerSecond: 0.02, burst: 1 } }] },
  });
  const requests = [0, 1, 2].map((index) => stage.numbered(index));
  for (const request of requests) await stage.send(request);
  expect(stage.toys.jobs.size).toBe(1);
  await stage.restart();
  for (const request of requests) await stage.send(request);
  await stage.clock.advance(600_000);
  expect([...stage.toys.jobs.values()].map(({ starts }) => starts)).toEqual([1, 1, 1]);
  expect(stage.history.filter((line) => line.startsWith("FAILED"))).toEqual([]);
});

test("a created task goes on without its event, by the record", async () => {
  const stage = await Stage.start();
  await stage.send(stage.request());
  await stage.restart();
  await stage.send(stage.request());
  expect(job(stage)?.starts).toBe(1);
  expect(stage.end.phase).toBe("RUNNING");
});

test("a created task goes on by the plugin state of an older build alone, at the endpoint that created it", async () => {
  const stage = await Stage.start();
  await stage.send(stage.request());
  const meta = Buffer.from(`${stage.request().outputPrefix}#`).toString("base64");
  const pluginState = Buffer.from(JSON.stringify({ v: 1, endpoint: "toys", taskType: "toy", taskVersion: 0, meta }));
  stage.store.blobs.clear();
  await stage.restart();
  stage.toys.agents = [];
  await stage.clock.advance(10_000);
  const request = stage.request("toy", { pluginState, knownPhase: Phase.QUEUED });
  // No connector announces the type now, so the bus keeps the request until one does.
  await stage.send(request);
  expect(stage.bus.unacknowledged).toBe(1);
  stage.toys.agents = stage.connector("other").agents;
  await stage.clock.advance(10_000);
  await stage.bus.redeliver();
  await stage.clock.advance(1_000);
  expect(job(stage)?.starts).toBe(1);
  expect(stage.end.phase).toBe("RUNNING");
});

test("the record of a deleted execution of the same name is not that of the attempt", async () => {
  const stage = await Stage.start();
  const { owner } = stage.request();
  await stage.send(stage.request("toy", { owner: { ...owner, uid: "deleted" } as never }));
  await stage.restart();
  await stage.send(stage.request());
  expect(stage.toys.calls.filter((call) => call === "CreateTask")).toHaveLength(2);
});

test("an attempt is not stopped by the record of an abort of a deleted execution of the same name", async () => {
  const stage = await Stage.start();
  const earlier = stage.request("toy", { owner: { ...stage.request().owner, uid: "deleted" } as never });
  await stage.send(earlier);
  await stage.send(earlier, DesiredState.ABORT);
  await stage.clock.advance(30_000);
  await stage.restart();
  await stage.send(stage.request());
  expect(stage.toys.calls.filter((call) => call === "CreateTask")).toHaveLength(2);
});

test("the id of a task is in its record, and in no event, plugin state or log line", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "flyte-ts-connector-")), "log");
  const stage = await Stage.start({ logger: createLogger({ service: "test", level: "trace", fd: openSync(file, "w") }) });
  stage.toys.metaSuffix = "token-".repeat(20);
  await stage.send(stage.request());
  await stage.clock.advance(2_000);
  await stage.restart();
  const { pluginState } = stage.last ?? {};
  expect(Buffer.from(pluginState ?? []).toString()).not.toMatch(/token-|dG9rZW4t/);
  await stage.send(stage.request("toy", { pluginState: pluginState ?? new Uint8Array() }));
  await stage.send(stage.request(), DesiredState.ABORT);
  await stage.clock.advance(30_000);
  expect(stage.end.phase).toBe("ABORTED");
  expect(job(stage)).toMatchObject({ starts: 1, isDeleted: true });
  expect(readFileSync(file, "utf8")).toContain("task types of connectors changed");
  expect(readFileSync(file, "utf8")).not.toMatch(/token-|dG9rZW4t/);
});

test("the record is deleted when the end has been recorded", async () => {
  const stage = await Stage.start();
  await stage.send(stage.request());
  expect(stage.store.blobs.has(recordUri(stage.request().outputPrefix))).toBe(true);
  Object.assign(job(stage) ?? {}, { resource: { phase: Phase.SUCCEEDED } });
  await stage.clock.advance(10_000);
  await stage.send(stage.request(), DesiredState.FINALIZE);
  expect(stage.store.blobs.size).toBe(0);
});

describe("the abort of all attempts of a workflow", () => {
  const folder = "s3://bucket/run";
  const placed = (stage: Stage, index: number, taskType = "toy") =>
    stage.numbered(index, taskType, { outputPrefix: `${folder}/n${index}/data/0` });
  const abortAll = async (stage: Stage, uid = "00000000-0000-4000-8000-000000000001") => {
    const { workflowKey, shard, namespace, owner } = stage.request();
    const about = { workflowKey, shard, namespace, owner: { ...owner, uid }, desired: DesiredState.ABORT_ALL, outputPrefix: folder };
    await stage.bus.send(taskRequestSubject("toy", shard), toBinary(TaskRequestSchema, create(TaskRequestSchema, about as object)));
    await stage.clock.advance(5_000);
  };

  test("reaches those of an earlier process, by their records", async () => {
    const stage = await Stage.start();
    const [first, second, ended] = [0, 1, 2].map((index) => placed(stage, index)) as [TaskRequest, TaskRequest, TaskRequest];
    for (const request of [first, second, ended]) await stage.send(request);
    await stage.clock.advance(2_000);
    Object.assign(stage.toys.jobs.get(ended.outputPrefix) ?? {}, { resource: { phase: Phase.SUCCEEDED } });
    await stage.restart();
    await stage.send(first);
    await abortAll(stage, "00000000-0000-4000-8000-00000000beef");
    expect([...stage.toys.jobs.values()].map(({ isDeleted }) => isDeleted)).toEqual([false, false, false]);
    await abortAll(stage, first.owner?.uid);
    // A task that has ended is not deleted.
    expect([...stage.toys.jobs.values()].map(({ isDeleted }) => isDeleted)).toEqual([true, true, false]);
    expect(stage.bus.unacknowledged).toBe(0);
    const aborted = stage.bus.events.filter(({ event }) => event?.phase === Phase.ABORTED);
    expect(new Set(aborted.map(({ event }) => event?.metadata?.generatedName))).toEqual(
      new Set([first, second, ended].map(({ generatedName }) => generatedName)),
    );
  });

  test("does not concern a synchronous task that has ended, nor one that could not be created", async () => {
    const logger = createLogger({ service: "test", level: "silent" });
    const warnings = vi.spyOn(logger, "warn");
    const stage = await Stage.start({ logger });
    const [sync, refused] = [placed(stage, 0, "sync-toy"), placed(stage, 1)];
    await stage.send(sync);
    stage.toys.onCall = (name) => {
      if (name === "CreateTask") throw new RpcError(Code.INVALID_ARGUMENT, "no such cluster");
    };
    await stage.send(refused);
    expect(stage.history).toEqual(["SUCCEEDED", expect.stringMatching(/^FAILED .*no such cluster/)]);
    await stage.restart();
    await abortAll(stage, sync.owner?.uid);
    expect(stage.history).toHaveLength(2);
    expect(warnings).not.toHaveBeenCalled();
    expect(stage.bus.unacknowledged).toBe(0);
  });

  test("waits for the blob store, and a later RUN starts nothing", async () => {
    const stage = await Stage.start();
    const request = placed(stage, 0);
    await stage.send(request);
    await stage.restart();
    stage.store.unavailable = true;
    await abortAll(stage, request.owner?.uid);
    expect(stage.bus.unacknowledged).toBe(1);
    stage.store.unavailable = false;
    await stage.bus.redeliver();
    await stage.clock.advance(5_000);
    expect(job(stage)?.isDeleted).toBe(true);
    await stage.restart();
    await stage.send(request);
    expect(stage.end.phase).toBe("ABORTED");
    expect(job(stage)?.starts).toBe(1);
  });
});
