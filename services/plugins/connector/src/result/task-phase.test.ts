import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { AgentError_Kind, ResourceSchema, State } from "@flyte-ts/idl/flyteidl/admin/agent_pb";
import { ExecutionError_ErrorKind as Origin, TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { describe, expect, test } from "vitest";
import { hasEnded, reportedState } from "./task-phase.js";

const state = (init: MessageInitShape<typeof ResourceSchema>) => reportedState(create(ResourceSchema, init));
const failure = (init: MessageInitShape<typeof ResourceSchema>) => {
  const reported = state(init);
  if (reported.kind !== "failed") throw new Error(reported.kind);
  const { recoverable, details } = reported.failure;
  return [recoverable, details.kind, details.code, details.message];
};

test.each([
  ["QUEUED", Phase.QUEUED],
  ["WAITING_FOR_RESOURCES", Phase.WAITING_FOR_RESOURCES],
  ["INITIALIZING", Phase.INITIALIZING],
  ["RUNNING", Phase.RUNNING],
] as const)("%s is progress, with the message as its reason", (name, phase) => {
  expect(state({ phase, message: "m" })).toEqual({ kind: "progress", phase: name, reason: "m" });
});

test.each([
  [State.PENDING, "INITIALIZING"],
  [State.RUNNING, "RUNNING"],
])("the old state %s is progress", (old, phase) => {
  expect(state({ state: old })).toMatchObject({ kind: "progress", phase });
});

test("success has two names", () => {
  expect(state({ phase: Phase.SUCCEEDED })).toEqual({ kind: "succeeded" });
  expect(state({ state: State.SUCCEEDED })).toEqual({ kind: "succeeded" });
});

test("a resource without content is no news", () => {
  expect(state({})).toEqual({ kind: "noNews" });
  expect(reportedState(undefined)).toEqual({ kind: "noNews" });
  expect(hasEnded(undefined)).toBe(false);
});

describe("a failure", () => {
  test("follows from the phase", () => {
    expect(failure({ phase: Phase.FAILED, message: "m" })).toEqual([false, "USER", "TaskFailedWithError", "failed to run the job: m"]);
    expect(failure({ phase: Phase.RETRYABLE_FAILED, message: "m" })).toEqual([
      true,
      "USER",
      "TaskFailedWithError",
      "failed to run the job: m",
    ]);
    expect(failure({ phase: Phase.ABORTED })).toEqual([false, "USER", "TaskFailedWithError", "failed to run the job with aborted phase."]);
    expect(failure({ state: State.PERMANENT_FAILURE, message: "m" })[0]).toBe(false);
    expect(failure({ state: State.RETRYABLE_FAILURE, message: "m" })[0]).toBe(true);
  });

  test("takes code, retry and origin from the connector's error", () => {
    const agentError = { code: "Quota", kind: AgentError_Kind.RECOVERABLE, origin: Origin.SYSTEM };
    expect(failure({ phase: Phase.FAILED, agentError })).toEqual([true, "SYSTEM", "Quota", "failed to run the job: "]);
    expect(failure({ phase: Phase.FAILED, agentError: { origin: Origin.USER } }).slice(0, 3)).toEqual([
      false,
      "USER",
      "TaskFailedWithError",
    ]);
    expect(failure({ phase: Phase.RETRYABLE_FAILED, agentError: { code: "C" } }).slice(0, 3)).toEqual([true, "USER", "C"]);
    expect(failure({ agentError }).slice(0, 2)).toEqual([true, "SYSTEM"]);
  });
});
