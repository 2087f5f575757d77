import {
  NodeExecution_Phase as Node,
  TaskExecution_Phase as Task,
  WorkflowExecution_Phase as Workflow,
} from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { expect, test } from "vitest";
import type { NodeUpdate } from "../event/updates.js";
import { foldNode } from "./node-state.js";
import { foldTask } from "./task-state.js";
import { initialWorkflowState, elapsed, foldWorkflow } from "./workflow-state.js";

const nodeFact = (occurredAt: bigint, deckUri: string): NodeUpdate => ({
  phase: Node.RUNNING,
  occurredAt,
  reportedAt: occurredAt,
  inputUri: "",
  deckUri,
  dynamicJobSpecUri: "",
  dynamicWorkflowUri: "",
  retryGroup: "",
  specNodeId: "n0",
  eventVersion: 1,
  isParent: false,
  isDynamic: false,
  isArray: false,
});

test("a node keeps its first start and its deck when RUNNING is repeated", () => {
  const first = foldNode(undefined, nodeFact(100n, "s3://b/deck.html"), 1n);
  expect(foldNode(first, nodeFact(900n, ""), 2n)).toMatchObject({ startedAt: 100n, deckUri: "s3://b/deck.html" });
  const late = foldNode(foldNode(undefined, nodeFact(900n, ""), 2n), nodeFact(100n, "s3://b/deck.html"), 1n);
  expect(late).toMatchObject({ startedAt: 100n, deckUri: "s3://b/deck.html" });
});

test("an execution keeps its first start when RUNNING is repeated", () => {
  const started = (at: bigint, order: bigint) => [{ phase: Workflow.RUNNING, occurredAt: at }, order] as const;
  const once = foldWorkflow(initialWorkflowState(50n), ...started(100n, 1n));
  expect(foldWorkflow(once, ...started(900n, 2n)).startedAt).toBe(100n);
});

test("an execution never starts before its creation and has no negative duration", () => {
  const running = foldWorkflow(initialWorkflowState(500n), { phase: Workflow.RUNNING, occurredAt: 100n }, 1n);
  expect(running.startedAt).toBe(500n);
  const ended = foldWorkflow(running, { phase: Workflow.SUCCEEDED, occurredAt: 400n, outputUri: "s3://b/o" }, 2n);
  expect(elapsed(ended)).toBe(0n);
});

test("a start that precedes the creation by more than the clock skew is kept", () => {
  const created = 1_700_000_000_000_000_000n;
  const years = created - 1_000_000_000_000_000_000n;
  const running = foldWorkflow(initialWorkflowState(created), { phase: Workflow.RUNNING, occurredAt: years }, 1n);
  expect(running.startedAt).toBe(years);
  const ended = foldWorkflow(running, { phase: Workflow.SUCCEEDED, occurredAt: years + 6n, outputUri: "s3://b/o" }, 2n);
  expect(elapsed(ended)).toBe(6n);
});

test("an attempt keeps its first start when RUNNING is repeated", () => {
  const fact = (occurredAt: bigint) => ({
    phase: Task.RUNNING,
    phaseVersion: 0,
    occurredAt,
    reportedAt: occurredAt,
    inputUri: "",
    event: new Uint8Array(),
  });
  expect(foldTask(foldTask(undefined, fact(100n), 1n), fact(900n), 2n).startedAt).toBe(100n);
});

test("a late event completes an end that was recorded without its result", () => {
  const running = foldWorkflow(initialWorkflowState(1n), { phase: Workflow.RUNNING, occurredAt: 2n }, 1n);
  const open = foldWorkflow(running, { phase: Workflow.SUCCEEDED, occurredAt: 9_000n }, 2n);
  expect(open.result).toBeUndefined();
  const outputs = Uint8Array.of(1);
  const late = foldWorkflow(open, { phase: Workflow.SUCCEEDED, occurredAt: 8_500n, outputUri: "s3://b/o", outputs }, 3n);
  expect(late).toMatchObject({ result: { kind: "outputs", values: outputs }, endedAt: 8_500n });
  const other = foldWorkflow(late, { phase: Workflow.SUCCEEDED, occurredAt: 9_500n, outputUri: "s3://b/other" }, 4n);
  expect(other).toBe(late);
  // An end of another phase changes nothing: the first one is kept.
  const error = { bytes: Uint8Array.of(2), kind: "USER", code: "C" };
  expect(foldWorkflow(open, { phase: Workflow.FAILED, occurredAt: 9_500n, error }, 4n)).toBe(open);
});
