import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import {
  ExecutionClosureSchema,
  ExecutionListSchema,
  ExecutionSchema,
  ExecutionSpecSchema,
} from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { ExecutionErrorSchema, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { expect, test } from "vitest";
import { encodeExecution, encodeExecutions } from "./row.js";
import type { ExecutionRow } from "../store/execution/find.js";

const SECOND = 1_000_000_000n;
const spec = create(ExecutionSpecSchema, {
  launchPlan: { name: "l", version: "v" },
  metadata: { principal: "me" },
  inputs: { literals: { x: {} } },
  maxParallelism: 25,
});
const fixed = create(ExecutionClosureSchema, {
  workflowId: { name: "w", version: "v" },
  notifications: [{ phases: [WorkflowExecution_Phase.FAILED] }],
});
const error = create(ExecutionErrorSchema, { code: "USER:ValueError", message: "é".repeat(200), errorUri: "s3://b/error.pb" });

function row(given: Partial<ExecutionRow>): ExecutionRow {
  return {
    id: 1n,
    execution_project: "p",
    execution_domain: "d",
    execution_name: "n",
    spec: toBinary(ExecutionSpecSchema, spec),
    closure: toBinary(ExecutionClosureSchema, fixed),
    state: 0,
    state_changed_ns: 7n * SECOND,
    state_changed_by: "",
    phase: "UNDEFINED",
    started_ns: null,
    accepted_ns: 7n * SECOND + 5n,
    updated_ns: 8n * SECOND,
    ended_ns: null,
    duration: 0n,
    result: null,
    output_uri: "",
    error: null,
    abort_cause: "",
    abort_principal: "",
    notice: "",
    notice_ns: null,
    ...given,
  };
}

const ended = { started_ns: 9n * SECOND, ended_ns: 12n * SECOND, duration: 3n * SECOND };
const shown = { startedAt: { seconds: 9n }, duration: { seconds: 3n } };
const errorBytes = toBinary(ExecutionErrorSchema, error);

type Closure = Omit<MessageInitShape<typeof ExecutionClosureSchema>, "$typeName">;
test.each<[string, Partial<ExecutionRow>, Closure, Closure?]>([
  ["that has not started", {}, {}],
  [
    "that runs and is archived",
    { phase: "RUNNING", started_ns: 9n * SECOND, state: 1, state_changed_by: "me" },
    {
      phase: WorkflowExecution_Phase.RUNNING,
      startedAt: { seconds: 9n },
      stateChangeDetails: { state: 1, occurredAt: { seconds: 7n }, principal: "me" },
    },
  ],
  [
    "that succeeded",
    { phase: "SUCCEEDED", result: "outputs", output_uri: "s3://b/outputs.pb", ...ended },
    {
      phase: WorkflowExecution_Phase.SUCCEEDED,
      outputResult: { case: "outputs", value: { data: { case: "uri", value: "s3://b/outputs.pb" } } },
      ...shown,
    },
  ],
  [
    "that succeeded with outputs without a URI",
    { phase: "SUCCEEDED", result: "outputs", ...ended },
    { phase: WorkflowExecution_Phase.SUCCEEDED, outputResult: { case: "outputs", value: { data: { case: "uri", value: "" } } }, ...shown },
  ],
  [
    "that failed",
    { phase: "FAILED", result: "error", error: errorBytes, ...ended },
    { phase: WorkflowExecution_Phase.FAILED, outputResult: { case: "error", value: error }, ...shown },
    { outputResult: { case: "error", value: { ...error, message: "é".repeat(50) } } },
  ],
  [
    "that was aborted after an error",
    { phase: "ABORTED", result: "error", error: errorBytes, abort_cause: "because", abort_principal: "me", ...ended },
    {
      phase: WorkflowExecution_Phase.ABORTED,
      outputResult: { case: "abortMetadata", value: { cause: "because", principal: "me" } },
      ...shown,
    },
  ],
  [
    "that waits for a resource",
    { notice: "no".repeat(100), notice_ns: 8n * SECOND },
    { outputResult: { case: "error", value: { code: "Waiting", kind: 2, message: "no".repeat(100), timestamp: { seconds: 8n } } } },
    { outputResult: { case: "error", value: { code: "Waiting", kind: 2, message: "no".repeat(50), timestamp: { seconds: 8n } } } },
  ],
  [
    "that waited before its start",
    { phase: "RUNNING", started_ns: 9n * SECOND, notice: "no", notice_ns: 8n * SECOND },
    { phase: WorkflowExecution_Phase.RUNNING, startedAt: { seconds: 9n } },
  ],
])("an execution %s is equal when it is read alone and in a list", (_, given, closure, inList) => {
  const expected = (init: Closure) =>
    create(ExecutionSchema, {
      id: { project: "p", domain: "d", name: "n" },
      spec,
      closure: {
        createdAt: { seconds: 7n, nanos: 5 },
        updatedAt: { seconds: 8n },
        workflowId: fixed.workflowId as NonNullable<typeof fixed.workflowId>,
        notifications: fixed.notifications,
        stateChangeDetails: { occurredAt: { seconds: 7n } },
        ...init,
      },
    });
  expect(fromBinary(ExecutionSchema, encodeExecution(row(given)))).toEqual(expected(closure));
  const { inputs: _inputs, ...withoutInputs } = spec;
  const listed = { ...expected({ ...closure, ...inList }), spec: withoutInputs };
  expect(fromBinary(ExecutionListSchema, encodeExecutions([row(given), row(given)], "2"))).toEqual(
    create(ExecutionListSchema, { executions: [listed, listed], token: "2" }),
  );
});

test("an empty list of rows gives an empty list", () => {
  expect(encodeExecutions([], "")).toHaveLength(0);
});
