import { NodeExecution_Phase, TaskExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { expect, test } from "vitest";
import { isTerminalNode, isTerminalNodeEvent, NodePhase, nodeEventPhase, nodePhases } from "./node.js";
import { isTerminalTaskEvent, TaskPhase, taskEventPhase, taskPhaseOfEvent, taskPhases } from "./task.js";
import { isTerminalWorkflow, isTerminalWorkflowEvent, WorkflowPhase, workflowEventPhase, workflowPhases } from "./workflow.js";

test.each([
  ["node", nodePhases, NodePhase],
  ["workflow", workflowPhases, WorkflowPhase],
  ["task", taskPhases, TaskPhase],
] as const)("the %s table has each number once, at its own index and under its own name", (_kind, table, phases) => {
  expect(table.map((row) => row.phase)).toEqual(table.map((_row, index) => index));
  expect(Object.fromEntries(table.map((row) => [row.name, row.phase]))).toEqual(phases);
});

test("every terminal phase has a terminal event; only a node's terminal event may come before its phase", () => {
  const terminal = nodePhases.filter((row) => row.terminal);
  expect(terminal.filter((row) => !isTerminalNodeEvent(row.event))).toEqual([]);
  expect(workflowPhases.filter((row) => isTerminalWorkflowEvent(row.event) !== row.terminal)).toEqual([]);
  expect(taskPhases.filter((row) => isTerminalTaskEvent(row.event) !== row.terminal)).toEqual([]);
});

test("every terminal event of tasks maps back to its phase", () => {
  const rows = taskPhases.filter((row) => row.terminal);
  expect(rows.map((row) => taskPhaseOfEvent(row.event, row.phase === TaskPhase.RetryableFailure))).toEqual(rows.map((row) => row.phase));
  expect(taskPhaseOfEvent(TaskExecution_Phase.RETRYABLE_FAILED, false)).toBe(TaskPhase.RetryableFailure);
});

test("unknown numbers are not terminal and map to undefined", () => {
  expect([isTerminalNode(1.5), isTerminalNode(99), isTerminalWorkflow(-1)]).toEqual([false, false, false]);
  expect(nodeEventPhase(99)).toBe(NodeExecution_Phase.UNDEFINED);
  expect(workflowEventPhase(99)).toBe(WorkflowExecution_Phase.UNDEFINED);
  expect(taskEventPhase(99)).toBe(TaskExecution_Phase.UNDEFINED);
});
