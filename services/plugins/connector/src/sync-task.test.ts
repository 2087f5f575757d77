import { ExecutionError_ErrorKind as Kind, TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { AgentError_Kind } from "@flyte-ts/idl/flyteidl/admin/agent_pb";
import { DesiredState } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { Code, RpcError } from "@flyte-ts/rpc";
import { beforeEach, expect, test } from "vitest";
import { Stage } from "./stage.fixture.js";

let stage: Stage;
beforeEach(async () => {
  stage = await Stage.start();
});
const run = () => stage.send(stage.request("sync-toy"));

test("a quick task is reported with one event", async () => {
  let header: unknown;
  stage.toys.onSync = (task) => {
    header = task.header;
    return { phase: Phase.SUCCEEDED, message: "done" };
  };
  await run();
  expect(stage.history).toEqual(["SUCCEEDED done"]);
  expect(header).toMatchObject({ template: { type: "sync-toy" }, outputPrefix: stage.request("sync-toy").outputPrefix });
  expect(stage.bus.unacknowledged).toBe(0);
});

test("a long task is RUNNING and its request acknowledged meanwhile", async () => {
  let finish: () => void = () => undefined;
  stage.toys.onCall = (name) => (name === "ExecuteTaskSync" ? new Promise((resolve) => (finish = resolve)) : undefined);
  await run();
  await stage.clock.advance(1_000);
  expect(stage.history).toEqual(['RUNNING runs at connector endpoint "toys"']);
  expect(stage.bus.unacknowledged).toBe(0);
  await run();
  expect(stage.toys.calls.filter((name) => name === "ExecuteTaskSync")).toHaveLength(1);
  finish();
  await stage.clock.advance(0);
  expect(stage.end.phase).toBe("SUCCEEDED");
});

test("its error decides on a retry", async () => {
  stage.toys.onSync = () => ({
    phase: Phase.FAILED,
    message: "no quota",
    agentError: { code: "Quota", kind: AgentError_Kind.RECOVERABLE, origin: Kind.SYSTEM },
  });
  await run();
  expect(stage.end).toEqual({ phase: "FAILED", recoverable: true, kind: Kind.SYSTEM, code: "Quota" });
});

test("an answer that is no end is an error of the connector", async () => {
  stage.toys.onSync = () => ({ phase: Phase.RUNNING });
  await run();
  expect(stage.end).toEqual({ phase: "FAILED", recoverable: true, kind: Kind.USER, code: "TaskFailedWithError" });
});

test("a passed deadline ends the attempt, since the task may have had effects", async () => {
  stage.toys.onCall = (name) => {
    if (name === "ExecuteTaskSync") throw new RpcError(Code.DEADLINE_EXCEEDED, "60 s");
  };
  await run();
  expect(stage.end).toEqual({ phase: "FAILED", recoverable: true, kind: Kind.SYSTEM, code: "CreationUnknown" });
});

test("an abort ends the call", async () => {
  let isCancelled = false;
  const { executeTaskSync } = stage.toys;
  stage.toys.executeTaskSync = (task, signal) => {
    if (signal === undefined) return executeTaskSync.call(stage.toys, task);
    return new Promise((_, reject) => {
      signal.addEventListener("abort", () => {
        isCancelled = true;
        reject(new RpcError(Code.CANCELLED, "cancelled"));
      });
    });
  };
  await run();
  await stage.clock.advance(2_000);
  await stage.send(stage.request("sync-toy"), DesiredState.ABORT);
  expect(stage.history.at(-1)).toMatch(/^ABORTED/);
  expect(isCancelled).toBe(true);
});

test("the end of a synchronous task asks for the finalization, which deletes the record", async () => {
  await run();
  expect([stage.end.phase, stage.store.blobs.size]).toEqual(["SUCCEEDED", 1]);
  await stage.finalize(stage.request("sync-toy"));
  expect(stage.store.blobs.size).toBe(0);
});
