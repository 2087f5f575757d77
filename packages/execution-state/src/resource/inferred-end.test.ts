import { NodePhase } from "@flyte-ts/domain/phase";
import {
  NodeExecution_Phase as Node,
  TaskExecution_Phase as Task,
  WorkflowExecution_Phase as Workflow,
} from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { expect, test } from "vitest";
import { type NonTerminalNode, inferNodeEnd, inferAttemptEnd } from "./inferred-end.js";

const node = (change: Partial<NonTerminalNode>) =>
  inferNodeEnd({ execution: Workflow.FAILED, parent: undefined, parentRetried: false, resourcePhase: undefined, ...change }).phase;

test("an inferred node end is SUCCEEDED if its parent succeeded, else ABORTED", () => {
  expect(node({ execution: Workflow.SUCCEEDED })).toBe(Node.SUCCEEDED);
  for (const execution of [Workflow.FAILED, Workflow.ABORTED, Workflow.TIMED_OUT]) expect(node({ execution })).toBe(Node.ABORTED);
  expect(node({ parent: Node.SUCCEEDED })).toBe(Node.SUCCEEDED);
  for (const parent of [Node.FAILED, Node.ABORTED, Node.TIMED_OUT]) {
    expect(node({ execution: Workflow.SUCCEEDED, parent })).toBe(Node.ABORTED);
  }
});

test("nodes of a retried parent attempt are not inferred to have succeeded", () => {
  expect(node({ parent: Node.SUCCEEDED, parentRetried: true })).toBe(Node.ABORTED);
});

test("a terminal phase in the resource takes precedence", () => {
  expect(node({ resourcePhase: NodePhase.Succeeded })).toBe(Node.SUCCEEDED);
  expect(node({ resourcePhase: NodePhase.Failed, execution: Workflow.SUCCEEDED })).toBe(Node.FAILED);
  expect(node({ resourcePhase: NodePhase.Skipped })).toBe(Node.SKIPPED);
  expect(node({ resourcePhase: NodePhase.Recovered })).toBe(Node.RECOVERED);
  for (const reported of [NodePhase.NotYetStarted, NodePhase.Queued, NodePhase.Running]) {
    expect(node({ resourcePhase: reported })).toBe(Node.ABORTED);
    expect(node({ resourcePhase: reported, execution: Workflow.SUCCEEDED })).toBe(Node.SUCCEEDED);
  }
});

test("an inferred attempt end is that of its node, or FAILED when another attempt followed", () => {
  const task = (phase: Node, isLast = true) => inferAttemptEnd({ node: phase, isLastAttempt: isLast }).phase;
  expect(task(Node.SUCCEEDED)).toBe(Task.SUCCEEDED);
  expect(task(Node.SUCCEEDED, false)).toBe(Task.FAILED);
  expect(task(Node.FAILED)).toBe(Task.FAILED);
  expect([Node.ABORTED, Node.TIMED_OUT, Node.SKIPPED].map((phase) => task(phase))).toEqual([Task.ABORTED, Task.ABORTED, Task.ABORTED]);
});
