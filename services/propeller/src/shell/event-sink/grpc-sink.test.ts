import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { EventFailureReasonSchema } from "@flyte-ts/idl/flyteidl/admin/event_pb";
import {
  NodeExecution_Phase as Node,
  TaskExecution_Phase as Task,
  WorkflowExecution_Phase as Workflow,
} from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { TaskExecutionEventSchema } from "@flyte-ts/idl/flyteidl/event/event_pb";
import { ExecutionEventSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import { Code, RpcError } from "@flyte-ts/rpc";
import { createLogger } from "@flyte-ts/telemetry";
import { expect, test } from "vitest";
import type { Observation } from "../../engine/types.js";
import { GrpcSink } from "./grpc-sink.js";
import { eventDedupKey, requiredNodeId, type PublishedEvent } from "./published-event.js";

const outputs = { literals: { o: { value: { case: "scalar" as const, value: { value: { case: "noneType" as const, value: {} } } } } } };
const event = (init: MessageInitShape<typeof ExecutionEventSchema>) => create(ExecutionEventSchema, init);
const workflow = (phase: Workflow) => event({ event: { case: "workflow", value: { phase } } });
const node = (nodeId: string, phase: Node) => event({ event: { case: "node", value: { id: { nodeId }, phase } } });

const child = (nodeId: string, parent: string) =>
  event({ event: { case: "node", value: { id: { nodeId }, phase: Node.RUNNING, parentNodeMetadata: { nodeId: parent } } } });
const attempt = (nodeId: string, phase: Task) => create(TaskExecutionEventSchema, { parentNodeExecutionId: { nodeId }, phase });

const notFound = () => new RpcError(Code.NOT_FOUND, "none");
const notFoundTimes = (length: number) => Array.from({ length }, notFound);

/**
 * An admin with scripted responses: `answers` maps an event's name to errors, consumed in order.
 * Answers NOT_FOUND for a node without an event. Each read advances the clock by `step` ms.
 */
function fixture(answers: Record<string, (RpcError | undefined)[]> = {}, { step = 0, maxQueueLength = 6 } = {}) {
  let clock = 0;
  const calls: string[] = [];
  const events: PublishedEvent[] = [];
  const observed: [string, Observation][] = [];
  let gate: Promise<void> = Promise.resolve();
  const nodes = new Set<string | undefined>();
  const take = async (published: PublishedEvent) => {
    await gate;
    const name = eventDedupKey(published);
    calls.push(name);
    events.push(published);
    const named = requiredNodeId(published);
    if (named !== undefined && !nodes.has(named)) throw notFound();
    const answer = answers[name]?.shift();
    if (answer !== undefined) throw answer;
    if (published.kind === "node") nodes.add(published.event.id?.nodeId);
    return {} as never;
  };
  const sink = new GrpcSink({
    admin: {
      createWorkflowEvent: ({ event: it }) => take({ kind: "workflow", event: it as never }),
      createNodeEvent: ({ event: it }) => take({ kind: "node", event: it as never }),
      createTaskEvent: ({ event: it }) => take({ kind: "task", event: it as never }),
    },
    observe: (key, observation) => observed.push([key, observation]),
    logger: createLogger({ service: "test", level: "silent" }),
    concurrency: 2,
    maxQueueLength,
    backoffMs: () => 1,
    now: () => (clock += step),
  });
  return {
    calls,
    events,
    observed,
    sink,
    hold: () => {
      let release: () => void = () => undefined;
      gate = new Promise((resolve) => {
        release = resolve;
      });
      return () => release();
    },
  };
}

const refusal = (reason: MessageInitShape<typeof EventFailureReasonSchema>["reason"]) =>
  new RpcError(Code.FAILED_PRECONDITION, "no", {
    details: [{ schema: EventFailureReasonSchema, message: create(EventFailureReasonSchema, { reason: reason as never }) }],
  });

test("events of an execution keep their order across failures, and the response to the end confirms the record", async () => {
  const unavailable = () => new RpcError(Code.UNAVAILABLE, "away");
  const f = fixture({
    [`workflow ${Workflow.RUNNING}`]: [unavailable(), new RpcError(Code.RESOURCE_EXHAUSTED, "slow down")],
    [`node n0 ${Node.SUCCEEDED}`]: [new RpcError(Code.ALREADY_EXISTS, "known")],
  });
  await Promise.all([
    f.sink.publish("d/a", workflow(Workflow.RUNNING)),
    f.sink.publish("d/a", node("n0", Node.RUNNING)),
    f.sink.publish("d/a", node("n0", Node.SUCCEEDED)),
    f.sink.publish("d/a", workflow(Workflow.SUCCEEDED)),
  ]);
  expect(f.calls).toEqual([
    ...Array.from({ length: 3 }, () => `workflow ${Workflow.RUNNING}`),
    `node n0 ${Node.RUNNING}`,
    `node n0 ${Node.SUCCEEDED}`,
    `workflow ${Workflow.SUCCEEDED}`,
  ]);
  expect(f.observed).toEqual([["d/a", { kind: "endRecorded", phase: "SUCCEEDED" }]]);
  expect(f.sink.queueLength).toBe(0);
});

test("an execution that waits for its recorder does not delay others, and repeated events are sent once", async () => {
  const f = fixture();
  const release = f.hold();
  const all = [
    f.sink.publish("d/a", workflow(Workflow.FAILED)),
    ...[1, 2, 3].map(() => f.sink.publish("d/a", workflow(Workflow.ABORTED))),
    f.sink.publish("d/b", workflow(Workflow.RUNNING)),
  ];
  release();
  await Promise.all(all);
  expect(f.calls.toSorted()).toEqual([Workflow.RUNNING, Workflow.FAILED, Workflow.ABORTED].map((phase) => `workflow ${phase}`).toSorted());
});

test("refusals reach the engine with their cause", async () => {
  const f = fixture({
    [`workflow ${Workflow.RUNNING}`]: [
      refusal({ case: "alreadyInTerminalState", value: { currentPhase: "ABORTED" } as never }),
      refusal({ case: "incompatibleCluster", value: { cluster: "c" } as never }),
    ],
    [`node n0 ${Node.RUNNING}`]: [refusal({ case: "alreadyInTerminalState", value: { currentPhase: "FAILED" } as never })],
  });
  for (let i = 0; i < 2; i++) await f.sink.publish("d/a", workflow(Workflow.RUNNING));
  await f.sink.publish("d/a", node("n0", Node.RUNNING));
  expect(f.observed.map(([, observation]) => observation.kind === "rejected" && observation.cause)).toEqual([
    "terminal",
    "incompatibleCluster",
  ]);
});

test("an execution runs although its row is written after its resource, and after an outage of the control plane", async () => {
  const running = `workflow ${Workflow.RUNNING}`;
  const unavailable = Array.from({ length: 20 }, () => new RpcError(Code.UNAVAILABLE, "away"));
  const f = fixture({ [running]: [...unavailable, ...notFoundTimes(9)], [`node n0 ${Node.QUEUED}`]: notFoundTimes(9) });
  await Promise.all([f.sink.publish("d/a", workflow(Workflow.RUNNING)), f.sink.publish("d/a", node("n0", Node.QUEUED))]);
  expect(f.observed).toEqual([]);
  expect(f.calls.filter((name) => name === running)).toHaveLength(30);
  expect(f.calls.at(-1)).toBe(`node n0 ${Node.QUEUED}`);
});

test("an execution that stays unknown to the control plane is refused after a limited time, which is spent once", async () => {
  const running = `workflow ${Workflow.RUNNING}`;
  const f = fixture({ [running]: notFoundTimes(100), [`node n0 ${Node.QUEUED}`]: notFoundTimes(100) }, { step: 10_000 });
  await Promise.all([f.sink.publish("d/a", workflow(Workflow.RUNNING)), f.sink.publish("d/a", node("n0", Node.QUEUED))]);
  expect(f.observed).toEqual([["d/a", { kind: "rejected", cause: "notFound", message: "none" }]]);
  // The first event is sent at 0, 10, … 60 s; the second only once.
  expect(f.calls).toEqual([...Array.from({ length: 6 }, () => running), running, `node n0 ${Node.QUEUED}`]);
});

test("executions that are unknown to the control plane occupy no slots", async () => {
  const f = fixture({ [`node x ${Node.QUEUED}`]: notFoundTimes(1_000) });
  for (const key of ["d/a", "d/b", "d/c"]) void f.sink.publish(key, node("x", Node.QUEUED));
  await f.sink.publish("d/d", workflow(Workflow.RUNNING));
  expect(f.calls.at(-1)).toBe(`workflow ${Workflow.RUNNING}`);
  f.sink.close();
});

test.each([Code.INTERNAL, Code.RESOURCE_EXHAUSTED, Code.DEADLINE_EXCEEDED])(
  "executions whose events are answered with code %s again and again occupy no slots, and keep their order",
  async (code) => {
    const queued = `node x ${Node.QUEUED}`;
    const f = fixture({ [queued]: Array.from({ length: 300 }, () => new RpcError(code, "no")) });
    const stuck = ["d/a", "d/b", "d/c"].flatMap((key) => [
      f.sink.publish(key, node("x", Node.QUEUED)),
      f.sink.publish(key, node("x", Node.RUNNING)),
    ]);
    await f.sink.publish("d/d", workflow(Workflow.RUNNING));
    expect(f.calls.length).toBeLessThan(20);
    await Promise.all(stuck);
    expect(f.calls.filter((name) => name === queued)).toHaveLength(303);
    expect(f.calls.indexOf(`node x ${Node.RUNNING}`)).toBeGreaterThan(f.calls.indexOf(queued));
    expect(f.sink.queueLength).toBe(0);
  },
);

test("an execution with few events does not wait for those with many", async () => {
  const f = fixture();
  const release = f.hold();
  const many = ["d/a", "d/b", "d/c"].flatMap((key) =>
    Array.from({ length: 100 }, (_, index) => f.sink.publish(key, node(`${key}-${index}`, Node.RUNNING))),
  );
  const signalled = f.sink.publish("d/few", node("gate", Node.SUCCEEDED));
  release();
  await Promise.all([...many, signalled]);
  expect(f.calls).toHaveLength(301);
  expect(f.calls.indexOf(`node gate ${Node.SUCCEEDED}`)).toBeLessThan(60);
  // Events of one execution keep their order.
  const own = f.calls.filter((call) => call.startsWith("node d/b-"));
  expect(own).toEqual(Array.from({ length: 100 }, (_, index) => `node d/b-${index} ${Node.RUNNING}`));
});

test("the end of a node overtakes starts of other nodes, but no event that it may depend on", async () => {
  const f = fixture({}, { maxQueueLength: 100 });
  const release = f.hold();
  const all = [
    f.sink.publish("d/a", workflow(Workflow.RUNNING)),
    f.sink.publish("d/a", node("n0", Node.RUNNING)),
    f.sink.publish("d/a", node("n1", Node.RUNNING)),
    f.sink.publish("d/a", child("n0-0-m", "n0")),
    f.sink.publish("d/a", node("n2", Node.RUNNING)),
    f.sink.forward("d/a", attempt("n1", Task.SUCCEEDED), undefined),
    f.sink.publish("d/a", node("n3", Node.RUNNING)),
    f.sink.publish("d/a", node("n1", Node.SUCCEEDED)),
    f.sink.publish("d/a", node("n0-0-m", Node.SUCCEEDED)),
    f.sink.publish("d/a", node("n0", Node.SUCCEEDED)),
    f.sink.publish("d/a", workflow(Workflow.SUCCEEDED)),
  ];
  release();
  await Promise.all(all);
  expect(f.calls).toEqual([
    `workflow ${Workflow.RUNNING}`,
    `node n0 ${Node.RUNNING}`,
    `node n1 ${Node.RUNNING}`,
    `node n0-0-m ${Node.RUNNING}`,
    `node n2 ${Node.RUNNING}`,
    `task n1  0 ${Task.SUCCEEDED} 0`,
    `node n1 ${Node.SUCCEEDED}`,
    `node n0-0-m ${Node.SUCCEEDED}`,
    `node n0 ${Node.SUCCEEDED}`,
    `node n3 ${Node.RUNNING}`,
    `workflow ${Workflow.SUCCEEDED}`,
  ]);
});

test("earlier events are recorded when `recorded` resolves, also those that another event replaces", async () => {
  const f = fixture();
  await f.sink.whenRecorded("d/a");
  const release = f.hold();
  for (const id of ["v", "w", "x", "y", "z"]) void f.sink.publish("d/a", node(id, Node.QUEUED));
  void f.sink.publish("d/a", node("n", Node.QUEUED));
  const recorded = f.sink.whenRecorded("d/a").then(() => f.calls.push("recorded"));
  // Exceeds the limit by one: n's first event is dropped.
  void f.sink.publish("d/a", node("n", Node.RUNNING));
  release();
  await recorded;
  expect(f.calls.at(-2)).toBe(`node n ${Node.RUNNING}`);
});

test("a recorder that is far behind is not sent superseded events, except ends", async () => {
  const f = fixture();
  const release = f.hold();
  const all = [f.sink.publish("d/a", workflow(Workflow.RUNNING))];
  for (const phase of [Node.QUEUED, Node.RUNNING]) for (const id of ["x", "y", "z"]) all.push(f.sink.publish("d/a", node(id, phase)));
  for (const id of ["x", "y", "z"]) all.push(f.sink.publish("d/a", node(id, Node.SUCCEEDED)));
  all.push(f.sink.publish("d/a", workflow(Workflow.SUCCEEDED)));
  release();
  await Promise.all(all);
  expect(f.calls.length).toBeLessThan(11);
  for (const id of ["x", "y", "z"]) expect(f.calls).toContain(`node ${id} ${Node.SUCCEEDED}`);
  expect(f.calls.at(-1)).toBe(`workflow ${Workflow.SUCCEEDED}`);
});

test("values without a URI are sent with the event", async () => {
  const f = fixture();
  const uri = { case: "outputUri" as const, value: "s3://b/outputs.pb" };
  await f.sink.publish("d/a", event({ event: { case: "node", value: { phase: Node.SUCCEEDED, outputResult: uri } }, outputs }));
  await f.sink.publish("d/a", event({ event: { case: "node", value: { phase: Node.RUNNING, outputResult: uri } } }));
  expect(f.events.map(({ event: { outputResult } }) => outputResult.case)).toEqual(["outputData", "outputUri"]);
});

test("an event that names an unknown node waits until the later event of that node is recorded", async () => {
  const f = fixture();
  const release = f.hold();
  const all = [
    f.sink.publish("d/a", workflow(Workflow.RUNNING)),
    f.sink.forward("d/a", attempt("n0-0-n1", Task.RUNNING), undefined),
    f.sink.forward("d/a", attempt("n0-0-n1", Task.SUCCEEDED), undefined),
    f.sink.publish("d/a", child("n0-0-n1", "n0")),
    f.sink.publish("d/a", node("n0", Node.RUNNING)),
    f.sink.publish("d/a", node("n0", Node.SUCCEEDED)),
    f.sink.publish("d/a", workflow(Workflow.SUCCEEDED)),
  ];
  release();
  await Promise.all(all);
  expect(f.calls.filter((name, index) => !f.calls.slice(index + 1).includes(name))).toEqual([
    `workflow ${Workflow.RUNNING}`,
    `node n0 ${Node.RUNNING}`,
    `node n0-0-n1 ${Node.RUNNING}`,
    `task n0-0-n1  0 ${Task.RUNNING} 0`,
    `task n0-0-n1  0 ${Task.SUCCEEDED} 0`,
    `node n0 ${Node.SUCCEEDED}`,
    `workflow ${Workflow.SUCCEEDED}`,
  ]);
});

test("the engine is asked for the event of an unknown node that is not queued", async () => {
  const f = fixture();
  const done = f.sink.forward("d/a", attempt("n0", Task.RUNNING), undefined);
  await expect.poll(() => f.observed).toContainEqual(["d/a", { kind: "unknownNode", nodeId: "n0" }]);
  await Promise.all([done, f.sink.publish("d/a", node("n0", Node.RUNNING))]);
  expect(f.calls.slice(-2)).toEqual([`node n0 ${Node.RUNNING}`, `task n0  0 ${Task.RUNNING} 0`]);
});
