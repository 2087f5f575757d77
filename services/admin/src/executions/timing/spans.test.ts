import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { CompiledWorkflowClosureSchema, type ConnectionSet_IdListSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import {
  NodeExecutionIdentifierSchema,
  TaskExecutionIdentifierSchema,
  WorkflowExecutionIdentifierSchema,
} from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Span } from "@flyte-ts/idl/flyteidl/core/metrics_pb";
import type { NodeSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { expect, test } from "vitest";
import { nanosOf } from "@flyte-ts/execution-state";
import type { ExecutionTiming, NodeTiming } from "./timing.js";
import { executionSpan } from "./spans.js";

const times = (createdAt: number, startedAt: number | undefined, endedAt: number | undefined, updatedAt = endedAt ?? createdAt) => ({
  createdAt: BigInt(createdAt),
  startedAt: startedAt === undefined ? undefined : BigInt(startedAt),
  endedAt: endedAt === undefined ? undefined : BigInt(endedAt),
  updatedAt: BigInt(updatedAt),
});
const node = (nodeId: string, at: ReturnType<typeof times>, more: Partial<NodeTiming> = {}): NodeTiming => ({
  id: create(NodeExecutionIdentifierSchema, { nodeId }),
  specNodeId: nodeId,
  tasks: [],
  dynamic: undefined,
  launched: undefined,
  ...at,
  ...more,
});
const task = (retryAttempt: number, at: ReturnType<typeof times>) => ({
  id: create(TaskExecutionIdentifierSchema, { retryAttempt }),
  ...at,
});
type Edges = Record<string, MessageInitShape<typeof ConnectionSet_IdListSchema>>;
const workflow = (nodes: MessageInitShape<typeof NodeSchema>[], upstream: Edges = {}) =>
  create(CompiledWorkflowClosureSchema, { primary: { template: { nodes }, connections: { upstream } } });
const execution = (name: string, nodes: Record<string, readonly NodeTiming[]>, closure: ExecutionTiming["workflow"]): ExecutionTiming => ({
  id: create(WorkflowExecutionIdentifierSchema, { name }),
  ...times(0, 5, 100),
  workflow: closure,
  nodes: new Map(Object.entries(nodes)),
});
const start = node("start-node", times(10, undefined, 10));
const target = { case: "taskNode" as const, value: {} };

/** Formats one line per span, indented by its level. */
function lines(span: Span, indent = ""): string[] {
  const at = (time: Span["startTime"]) => (time === undefined ? "?" : String(nanosOf(time)));
  const { id } = span;
  const name = {
    workflowId: () => `execution ${(id.value as { name: string }).name}`,
    nodeId: () => `node ${(id.value as { nodeId: string }).nodeId}`,
    taskId: () => `attempt ${(id.value as { retryAttempt: number }).retryAttempt}`,
    operationId: () => (typeof id.value === "string" ? id.value : ""),
  }[id.case ?? "operationId"]();
  return [`${indent}${name} ${at(span.startTime)}-${at(span.endTime)}`, ...span.spans.flatMap((inner) => lines(inner, `${indent}  `))];
}
const spanLines = (measured: ExecutionTiming, depth = -1) => lines(executionSpan(measured, depth));

test("a chain of tasks with a retry gives its spans", () => {
  const first = node("n0", times(12, 14, 40, 41), { tasks: [task(0, times(13, 15, 20)), task(1, times(22, 24, 38, 39))] });
  const second = node("n1", times(45, undefined, undefined, 50));
  const closure = workflow(
    [
      { id: "n0", target },
      { id: "n1", target },
    ],
    { n0: { ids: ["start-node"] }, n1: { ids: ["n0"] }, "end-node": { ids: ["n1"] } },
  );
  expect(spanLines(execution("e", { "": [start, first, second] }, closure))).toEqual([
    "execution e 0-100",
    "  WORKFLOW_SETUP 0-10",
    "  node n0 12-41",
    "    NODE_TRANSITION 10-12",
    "    NODE_SETUP 12-13",
    "    attempt 0 13-20",
    "      TASK_SETUP 13-15",
    "      TASK_RUNTIME 15-20",
    "      TASK_TEARDOWN 20-20",
    "    NODE_RESET 20-22",
    "    attempt 1 22-39",
    "      TASK_SETUP 22-24",
    "      TASK_RUNTIME 24-38",
    "      TASK_TEARDOWN 38-39",
    "    NODE_TEARDOWN 39-41",
    "  node n1 45-50",
    "    NODE_TRANSITION 41-45",
    "    NODE_SETUP 45-50",
    "  WORKFLOW_TEARDOWN 50-100",
  ]);
});

test("the levels are the execution, its nodes, their operations and their attempts", () => {
  const measured = execution(
    "e",
    { "": [start, node("n0", times(12, 14, 40), { tasks: [task(0, times(13, 15, 20))] })] },
    workflow([{ id: "n0", target }], { "end-node": { ids: ["n0"] } }),
  );
  expect(spanLines(measured, 0)).toEqual(["execution e 0-100"]);
  expect(spanLines(measured, 1)).toEqual(["execution e 0-100", "  WORKFLOW_SETUP 0-10", "  node n0 12-40", "  WORKFLOW_TEARDOWN 40-100"]);
  expect(spanLines(measured, 2).slice(2, 5)).toEqual(["  node n0 12-40", "    NODE_SETUP 12-13", "    NODE_TEARDOWN 20-40"]);
  expect(spanLines(measured, 3)).toContain("      TASK_RUNTIME 15-20");
});

test("an execution without nodes is all set-up", () => {
  expect(spanLines(execution("e", {}, undefined))).toEqual(["execution e 0-100", "  WORKFLOW_SETUP 0-100"]);
});

test("gates are idle", () => {
  const gate = { id: "g", target: { case: "gateNode" as const, value: {} } };
  const of = (at: ReturnType<typeof times>) => spanLines(execution("e", { "": [start, node("g", at)] }, workflow([gate]))).slice(3);
  expect(of(times(12, undefined, undefined, 13))).toEqual(["    NODE_SETUP 12-13"]);
  expect(of(times(12, 14, undefined, 20))).toEqual(["    NODE_SETUP 12-14", "    NODE_IDLE 14-20"]);
  expect(of(times(12, 14, 30, 31))).toEqual(["    NODE_SETUP 12-14", "    NODE_IDLE 14-30", "    NODE_TEARDOWN 30-31"]);
});

test("a branch shows the chosen arm with its own kind", () => {
  const arm = { id: "then", target: { case: "gateNode" as const, value: {} } };
  const branch = { id: "b", target: { case: "branchNode" as const, value: { ifElse: { case: { thenNode: arm } } } } };
  const taken = node("b-0-then", times(20, 22, 30), { specNodeId: "then" });
  expect(spanLines(execution("e", { "": [start, node("b", times(12, 14, 40))], b: [taken] }, workflow([branch]))).slice(2)).toEqual([
    "  node b 12-40",
    "    NODE_SETUP 12-20",
    "    node b-0-then 20-30",
    "      NODE_SETUP 20-22",
    "      NODE_IDLE 22-30",
    "      NODE_TEARDOWN 30-30",
    "    NODE_TEARDOWN 30-40",
  ]);
});

test("a sub-workflow and a dynamic node show their graphs", () => {
  const inner = [
    node("s-0-start-node", times(20, undefined, 21), { specNodeId: "start-node" }),
    node("s-0-i", times(23, undefined, 30), { specNodeId: "i" }),
  ];
  const upstream = { i: { ids: ["start-node"] }, "end-node": { ids: ["i"] } };
  const subId = { project: "p", domain: "d", name: "sub", version: "v" };
  const closure = create(CompiledWorkflowClosureSchema, {
    primary: {
      template: { nodes: [{ id: "s", target: { case: "workflowNode", value: { reference: { case: "subWorkflowRef", value: subId } } } }] },
    },
    subWorkflows: [{ template: { id: subId, nodes: [{ id: "i", target }] }, connections: { upstream } }],
  });
  const graph = ["    NODE_SETUP 12-21", "    node s-0-i 23-30", "      NODE_TRANSITION 21-23", "      NODE_SETUP 23-30"];
  expect(spanLines(execution("e", { "": [start, node("s", times(12, 14, 40))], s: inner }, closure)).slice(3)).toEqual([
    ...graph,
    "    NODE_TEARDOWN 30-40",
  ]);
  const dynamic = node("s", times(12, 14, 40), { tasks: [task(0, times(13, 14, 18))], dynamic: workflow([{ id: "i", target }], upstream) });
  expect(spanLines(execution("e", { "": [start, dynamic], s: inner }, workflow([{ id: "s", target }])), 4).slice(3)).toEqual([
    "    NODE_SETUP 12-13",
    "    attempt 0 13-18",
    "      TASK_SETUP 13-14",
    "      TASK_RUNTIME 14-18",
    "      TASK_TEARDOWN 18-18",
    "    NODE_RESET 18-21",
    ...graph.slice(1),
    "    NODE_TEARDOWN 30-40",
  ]);
});

test("a launch plan node shows the child execution", () => {
  const launch = {
    id: "l",
    target: { case: "workflowNode" as const, value: { reference: { case: "launchplanRef" as const, value: {} } } },
  };
  const launched = { ...execution("child", {}, undefined), ...times(16, 17, 30, 31) };
  const of = (more: Partial<NodeTiming>) =>
    spanLines(execution("e", { "": [start, node("l", times(12, 14, 40), more)] }, workflow([launch]))).slice(3);
  expect(of({})).toEqual(["    NODE_SETUP 12-40"]);
  expect(of({ launched })).toEqual([
    "    NODE_SETUP 12-16",
    "    execution child 16-31",
    "      WORKFLOW_SETUP 16-31",
    "    NODE_TEARDOWN 31-40",
  ]);
});

test("no span has a negative length when clocks differ", () => {
  const measured = execution(
    "e",
    { "": [start, node("n0", times(50, 40, 60), { tasks: [task(0, times(45, 44, 55))] })] },
    workflow([{ id: "n0", target }]),
  );
  for (const line of lines(executionSpan(measured, -1))) {
    const [from, to] = /(\d+)-(\d+)$/.exec(line)?.slice(1).map(Number) ?? [];
    expect(to, line).toBeGreaterThanOrEqual(from ?? Number.NaN);
  }
});
