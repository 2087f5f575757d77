import { mkdtempSync, openSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ExecutionError_ErrorKind as Kind, TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { DesiredState } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { createLogger } from "@flyte-ts/telemetry";
import { expect, test } from "vitest";
import { recordUri } from "./record/creation-record.js";
import { Stage } from "./stage.fixture.js";

const job = (stage: Stage) => [...stage.toys.jobs.values()][0];

test("a process that died while it created leaves an attempt whose job may exist", async () => {
  const stage = await Stage.start();
  const request = stage.request();
  await stage.store.put(recordUri(request.outputPrefix), Buffer.from('{"v":1,"begun":true}'));
  await stage.send(request);
  expect(stage.end).toEqual({ phase: "FAILED", recoverable: true, kind: Kind.SYSTEM, code: "CreationUnknown" });
  expect(stage.toys.calls).not.toContain("CreateTask");
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

test("a created task goes on without its event, by the record", async () => {
  const stage = await Stage.start();
  await stage.send(stage.request());
  await stage.restart();
  await stage.send(stage.request());
  expect(job(stage)?.starts).toBe(1);
  expect(stage.end.phase).toBe("RUNNING");
});

test("a created task goes on by the plugin state alone, at the endpoint that created it", async () => {
  const stage = await Stage.start();
  await stage.send(stage.request());
  const { pluginState } = stage.last ?? {};
  stage.store.blobs.clear();
  await stage.restart();
  stage.toys.agents = [];
  await stage.clock.advance(10_000);
  const request = stage.request("toy", { pluginState: pluginState ?? new Uint8Array(), knownPhase: Phase.QUEUED });
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

test("a large id is kept in the record, and is in no event and no log line", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "flyte-ts-connector-")), "log");
  const stage = await Stage.start({ logger: createLogger({ service: "test", level: "trace", fd: openSync(file, "w") }) });
  stage.toys.metaSuffix = "token-".repeat(2_000);
  await stage.send(stage.request());
  await stage.clock.advance(2_000);
  await stage.restart();
  const { pluginState } = stage.last ?? {};
  expect(pluginState?.length).toBeLessThan(4_096);
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
