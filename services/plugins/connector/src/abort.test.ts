import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { DesiredState } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { Code, RpcError } from "@flyte-ts/rpc";
import { createLogger } from "@flyte-ts/telemetry";
import { beforeEach, expect, test, vi } from "vitest";
import { Stage } from "./stage.fixture.js";

let stage: Stage;
const job = () => [...stage.toys.jobs.values()][0];
const abort = () => stage.send(stage.request(), DesiredState.ABORT);
const failCall = (name: string, code: Exclude<Code, 0>) => (call: string) => {
  if (call === name) throw new RpcError(code, "no");
};

beforeEach(async () => {
  stage = await Stage.start();
});

test("nothing is called when nothing was created", async () => {
  await abort();
  expect(stage.history).toEqual(["ABORTED"]);
  expect(stage.toys.calls).toEqual(["ListAgents"]);
});

test("a creation in progress is awaited, and its job deleted", async () => {
  let answer: () => void = () => undefined;
  stage.toys.onCall = (name) => (name === "CreateTask" ? new Promise((resolve) => (answer = resolve)) : undefined);
  await stage.send(stage.request());
  await abort();
  await stage.clock.advance(2_000);
  answer();
  await stage.clock.advance(2_000);
  expect(stage.history.at(-1)).toBe("ABORTED");
  expect(job()?.isDeleted).toBe(true);
});

test.each([true, false])("an idempotent creation without an answer may have made a job (known to this process: %s)", async (isKnown) => {
  const settings = { endpoints: [{ name: "toys", address: "toys:1", idempotentTaskTypes: ["toy"] }] };
  stage = await Stage.start({ settings });
  stage.toys.onCreated = () => {
    throw new RpcError(Code.DEADLINE_EXCEEDED, "cut off");
  };
  await stage.send(stage.request());
  stage.toys.onCall = failCall("CreateTask", Code.UNAUTHENTICATED);
  if (!isKnown) {
    await stage.restart();
    await stage.send(stage.request());
  }
  await stage.clock.advance(2_000);
  await abort();
  expect(stage.history.at(-1)).toMatch(/^ABORTED .*may have created a job/);
});

test("the end of a deleted task is awaited", async () => {
  await stage.send(stage.request());
  stage.toys.deleteStops = false;
  await abort();
  await stage.clock.advance(5_000);
  expect(stage.history.at(-1)).not.toMatch(/^ABORTED/);
  Object.assign(job() ?? {}, { resource: { phase: Phase.FAILED } });
  await stage.clock.advance(1_000);
  expect(stage.history.at(-1)).toBe("ABORTED");
});

test("a task that ignores DeleteTask counts as aborted after a time, with a reason and a warning", async () => {
  const logger = createLogger({ service: "test", level: "silent" });
  const warnings = vi.spyOn(logger, "warn");
  stage = await Stage.start({ logger });
  await stage.send(stage.request());
  stage.toys.deleteStops = false;
  await abort();
  await stage.clock.advance(12_000);
  expect(stage.history.at(-1)).toMatch(/^ABORTED DeleteTask succeeded, but 10000 ms later/);
  expect(warnings).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ taskType: "toy", reason: expect.stringContaining("still reports the task as running") }),
    expect.stringContaining("may still run"),
  );
});

test("DeleteTask is repeated while the connector is away", async () => {
  await stage.send(stage.request());
  stage.toys.onCall = failCall("DeleteTask", Code.UNAVAILABLE);
  await abort();
  await stage.clock.advance(10 * 60_000);
  expect(stage.history.at(-1)).not.toMatch(/^ABORTED/);
  stage.toys.onCall = () => undefined;
  await stage.clock.advance(60_000);
  expect(stage.history.at(-1)).toBe("ABORTED");
  expect(job()?.isDeleted).toBe(true);
});

test("DeleteTask that always fails, or that no connector has, ends with a reason", async () => {
  await stage.send(stage.request());
  stage.toys.onCall = failCall("DeleteTask", Code.INTERNAL);
  await abort();
  await stage.clock.advance(5 * 60_000);
  expect(stage.history.at(-1)).toBe('ABORTED connector endpoint "toys", DeleteTask: INTERNAL: no');
});

test("a task that the connector no longer knows is gone", async () => {
  await stage.send(stage.request());
  stage.toys.jobs.clear();
  await abort();
  expect(stage.history.at(-1)).toBe("ABORTED");
});

test("the end that came before the abort is reported", async () => {
  await stage.send(stage.request());
  Object.assign(job() ?? {}, { resource: { phase: Phase.SUCCEEDED } });
  await stage.clock.advance(10_000);
  await abort();
  expect(stage.history.at(-1)).toBe("SUCCEEDED");
});
