import { NodePhase } from "@flyte-ts/domain";
import {
  NodeExecution_Phase as Node,
  TaskExecution_Phase as Task,
  WorkflowExecution_Phase as Workflow,
} from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { expect, test } from "vitest";
import { type OpenNode, settleNode, settleTask } from "./decide.js";
import { encodeSlice } from "@flyte-ts/workflow-crd";
import { nodeStatusesOf, toldPhases } from "./told.js";

const node = (change: Partial<OpenNode>) =>
  settleNode({ execution: Workflow.FAILED, parent: undefined, ofEarlierAttempt: false, told: undefined, ...change }).phase;

test("a node shares the success of what it ran in and is cut off by every other end", () => {
  expect(node({ execution: Workflow.SUCCEEDED })).toBe(Node.SUCCEEDED);
  for (const execution of [Workflow.FAILED, Workflow.ABORTED, Workflow.TIMED_OUT]) expect(node({ execution })).toBe(Node.ABORTED);
  expect(node({ parent: Node.SUCCEEDED })).toBe(Node.SUCCEEDED);
  for (const parent of [Node.FAILED, Node.ABORTED, Node.TIMED_OUT]) {
    expect(node({ execution: Workflow.SUCCEEDED, parent })).toBe(Node.ABORTED);
  }
});

test("of an attempt that was followed by another nothing succeeded for sure", () => {
  expect(node({ parent: Node.SUCCEEDED, ofEarlierAttempt: true })).toBe(Node.ABORTED);
});

test("the resource's word stands when it tells of an end", () => {
  expect(node({ told: NodePhase.Succeeded })).toBe(Node.SUCCEEDED);
  expect(node({ told: NodePhase.Failed, execution: Workflow.SUCCEEDED })).toBe(Node.FAILED);
  expect(node({ told: NodePhase.Skipped })).toBe(Node.SKIPPED);
  expect(node({ told: NodePhase.Recovered })).toBe(Node.RECOVERED);
  for (const told of [NodePhase.NotYetStarted, NodePhase.Queued, NodePhase.Running]) {
    expect(node({ told })).toBe(Node.ABORTED);
    expect(node({ told, execution: Workflow.SUCCEEDED })).toBe(Node.SUCCEEDED);
  }
});

test("an attempt ends as its node did, or failed when another followed", () => {
  const task = (phase: Node, isLast = true) => settleTask({ node: phase, isLast }).phase;
  expect(task(Node.SUCCEEDED)).toBe(Task.SUCCEEDED);
  expect(task(Node.SUCCEEDED, false)).toBe(Task.FAILED);
  expect(task(Node.FAILED)).toBe(Task.FAILED);
  expect([Node.ABORTED, Node.TIMED_OUT, Node.SKIPPED].map((phase) => task(phase))).toEqual([Task.ABORTED, Task.ABORTED, Task.ABORTED]);
});

test("phases of nested nodes are told by the ids of events", async () => {
  const nodeStatus = {
    n0: { phase: 5, attempts: 1, subNodeStatus: { a: { phase: 6 }, b: { phase: 3, subNodeStatus: { c: { phase: 5 } } } } },
  };
  const ids = [
    ["n0", 5],
    ["n0-1-a", 6],
    ["n0-1-b", 3],
    ["n0-1-b-0-c", 5],
  ];
  expect([...toldPhases(nodeStatus)]).toEqual(ids);
  expect(toldPhases({}).size).toBe(0);
  const { subNodeStatus, ...n0 } = nodeStatus.n0;
  const slice = encodeSlice([
    { path: ["n0"], status: n0 },
    { path: ["n0", "a"], status: subNodeStatus.a },
    { path: ["n0", "b"], status: { phase: 3 } },
    { path: ["n0", "b", "c"], status: { phase: 5 } },
  ]);
  const blobs = { get: async (uri: string) => (uri === "s3://b/slices/0.1" ? slice : undefined) };
  const slices = { version: 1 as const, prefix: "s3://b/slices", generation: 1, names: { "0": "0.1" } };
  expect([...toldPhases(await nodeStatusesOf(blobs, { phase: 3, slices }))]).toEqual(ids);
  await expect(nodeStatusesOf(blobs, { phase: 3, slices: { ...slices, names: { "0": "0.2" } } })).rejects.toThrow("nothing stands at");
});

test("arms of branches, and of branches in arms, are told below their branch", () => {
  const told = toldPhases({
    b: { phase: 5 },
    inner: { phase: 5, parentNode: "b" },
    leaf: { phase: 6, parentNode: "inner" },
    lost: { phase: 1, parentNode: "nowhere" },
  });
  expect([...told]).toEqual([
    ["b", 5],
    ["b-0-inner", 5],
    ["b-0-inner-0-leaf", 6],
    ["lost", 1],
  ]);
});
