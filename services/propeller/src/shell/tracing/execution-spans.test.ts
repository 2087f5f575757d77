import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  NodeExecution_Phase as Node,
  TaskExecution_Phase as Task,
  WorkflowExecution_Phase as Workflow,
} from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { TaskExecutionEventSchema } from "@flyte-ts/idl/flyteidl/event/event_pb";
import { ExecutionEventSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import { type Span, spanIdOf, traceIdOf } from "@flyte-ts/telemetry";
import { expect, test } from "vitest";
import { ExecutionSpans } from "./execution-spans.js";

const executionId = { project: "p", domain: "d", name: "e" };
const traceId = traceIdOf(executionId);
const executionEvent = (init: MessageInitShape<typeof ExecutionEventSchema>["event"]) =>
  create(ExecutionEventSchema, { event: init as never });
const workflow = (phase: Workflow, at: number, more: object = {}) =>
  executionEvent({ case: "workflow", value: { executionId, phase, occurredAt: timestampFromMs(at), ...more } });
const node = (nodeId: string, phase: Node, { at, ...more }: { at: number; [field: string]: unknown }) =>
  executionEvent({
    case: "node",
    value: { id: { nodeId, executionId }, phase, occurredAt: timestampFromMs(at), specNodeId: nodeId, ...more },
  });
const attempt = (phase: Task, at: number) =>
  create(TaskExecutionEventSchema, {
    parentNodeExecutionId: { nodeId: "n0", executionId },
    phase,
    occurredAt: timestampFromMs(at),
    taskType: "echo",
  });

test("an execution is one trace, in which each node and attempt is one span below its parent", () => {
  const recorded: Span[] = [];
  const spans = new ExecutionSpans({ record: (span) => recorded.push(span), close: () => Promise.resolve() });
  spans.onEvent("ns/e", workflow(Workflow.RUNNING, 1_000));
  spans.onEvent("ns/e", node("n0", Node.QUEUED, { at: 1_100 }));
  spans.onEvent("ns/e", node("n0", Node.RUNNING, { at: 1_200 }));
  spans.onTaskEvent("ns/e", attempt(Task.QUEUED, 1_150));
  spans.onTaskEvent("ns/e", attempt(Task.SUCCEEDED, 1_400));
  spans.onTaskEvent("ns/e", attempt(Task.SUCCEEDED, 1_400));
  spans.onEvent("ns/e", node("n0-0-x", Node.QUEUED, { at: 1_300, parentNodeMetadata: { nodeId: "n0" } }));
  spans.onEvent(
    "ns/e",
    node("n0-0-x", Node.FAILED, {
      at: 1_350,
      parentNodeMetadata: { nodeId: "n0" },
      outputResult: { case: "error", value: { code: "C", message: "broke" } },
    }),
  );
  spans.onEvent("ns/e", node("n0", Node.SUCCEEDED, { at: 1_500 }));
  spans.onStatusWrite("ns/e", { start: 1_500, end: 1_510, outcome: "written" });
  for (let i = 0; i < 2; i++) spans.onEvent("ns/e", workflow(Workflow.SUCCEEDED, 1_600));
  const id = (part: string) => spanIdOf(traceId, part);
  expect(
    recorded.map(({ name, start, end, spanId, parentSpanId, failure }) => ({ name, start, end, spanId, parentSpanId, failure })),
  ).toEqual([
    { name: "attempt 0", start: 1_150, end: 1_400, spanId: id("attempt/n0/0"), parentSpanId: id("node/n0"), failure: undefined },
    { name: "n0-0-x", start: 1_300, end: 1_350, spanId: id("node/n0-0-x"), parentSpanId: id("node/n0"), failure: "C: broke" },
    { name: "n0", start: 1_100, end: 1_500, spanId: id("node/n0"), parentSpanId: id("workflow"), failure: undefined },
    { name: "status write", start: 1_500, end: 1_510, spanId: expect.any(String), parentSpanId: id("workflow"), failure: undefined },
    { name: "e", start: 1_000, end: 1_600, spanId: id("workflow"), parentSpanId: undefined, failure: undefined },
  ]);
  expect(new Set(recorded.map((span) => span.traceId))).toEqual(new Set([traceId]));
});
