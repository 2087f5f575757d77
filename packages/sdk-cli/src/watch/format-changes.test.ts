import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { NodeExecution_Phase, TaskExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { WatchExecutionResponseSchema } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import { expect, test } from "vitest";
import { ChangeFormatter } from "./format-changes.js";

const updatedAt = timestampFromMs(Date.parse("2026-03-01T10:00:00.250Z"));
const lines = (changes: ChangeFormatter, message: MessageInitShape<typeof WatchExecutionResponseSchema>) =>
  changes.lines(create(WatchExecutionResponseSchema, message));

test("each visible change prints one line, and the line of the execution comes last", () => {
  const changes = new ChangeFormatter();
  const node = (phase: NodeExecution_Phase, message = "") => ({
    node: {
      id: { nodeId: "n0" },
      closure: { phase, updatedAt, ...(message && { outputResult: { case: "error" as const, value: { message } } }) },
    },
    parentNodeId: "n1",
  });
  const execution = { closure: { phase: WorkflowExecution_Phase.RUNNING, updatedAt } };
  expect(lines(changes, { execution, nodes: [node(NodeExecution_Phase.RUNNING)] })).toEqual([
    "10:00:00.250  n0 in n1                 RUNNING",
    "10:00:00.250  execution                RUNNING",
  ]);
  const task = {
    id: { nodeExecutionId: { nodeId: "n0" }, retryAttempt: 1 },
    closure: { phase: TaskExecution_Phase.QUEUED, updatedAt, reason: "no room" },
  };
  expect(lines(changes, { execution, nodes: [node(NodeExecution_Phase.RUNNING)], tasks: [task] })).toEqual([
    "10:00:00.250  n0 attempt 1             QUEUED     no room",
  ]);
  const succeeded = { ...task, closure: { ...task.closure, phase: TaskExecution_Phase.SUCCEEDED } };
  expect(lines(changes, { tasks: [succeeded] })).toEqual(["10:00:00.250  n0 attempt 1             SUCCEEDED"]);
  expect(lines(changes, { nodes: [node(NodeExecution_Phase.FAILED, "Traceback\n  line 1\nValueError: no\n.\n")] })).toEqual([
    "10:00:00.250  n0 in n1                 FAILED     ValueError: no",
  ]);
  expect(changes.phase).toBe(WorkflowExecution_Phase.RUNNING);
  const start = { id: { nodeId: "start-node" }, closure: { phase: NodeExecution_Phase.SUCCEEDED, updatedAt } };
  expect(lines(changes, { nodes: [{ node: start, parentNodeId: "" }] })).toEqual([]);
});

test("a state that arrives in several messages is printed in the order of time, after the last of them", () => {
  const changes = new ChangeFormatter();
  const at = (second: number) => timestampFromMs(Date.parse("2026-03-01T10:00:00Z") + second * 1_000);
  const node = (nodeId: string, second: number) => ({
    node: { id: { nodeId }, closure: { phase: NodeExecution_Phase.SUCCEEDED, updatedAt: at(second) } },
  });
  const attempt = (nodeId: string, second: number) => ({
    id: { nodeExecutionId: { nodeId } },
    closure: { phase: TaskExecution_Phase.SUCCEEDED, updatedAt: at(second) },
  });
  const execution = { closure: { phase: WorkflowExecution_Phase.SUCCEEDED, updatedAt: at(3) } };
  expect(lines(changes, { reset: true, execution, nodes: [node("n1", 4), node("n0", 2)] })).toEqual([]);
  expect(lines(changes, { tasks: [attempt("n1", 3), attempt("n0", 2)], complete: true, ended: true })).toEqual([
    "10:00:02.000  n0                       SUCCEEDED",
    "10:00:02.000  n0 attempt 0             SUCCEEDED",
    "10:00:03.000  n1 attempt 0             SUCCEEDED",
    "10:00:04.000  n1                       SUCCEEDED",
    "10:00:03.000  execution                SUCCEEDED",
  ]);
});
