import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { EventFailureReasonSchema } from "@flyte-ts/idl/flyteidl/admin/event_pb";
import { NodeExecution_Phase as Node, WorkflowExecution_Phase as Workflow } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ExecutionEventSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import { Code, RpcError } from "@flyte-ts/rpc";
import { createLogger } from "@flyte-ts/telemetry";
import { expect, test } from "vitest";
import type { Observation } from "../../engine/types.js";
import { GrpcSink } from "./grpc-sink.js";
import { eventName, type PublishedEvent } from "./published-event.js";

const outputs = { literals: { o: { value: { case: "scalar" as const, value: { value: { case: "noneType" as const, value: {} } } } } } };
const event = (init: MessageInitShape<typeof ExecutionEventSchema>) => create(ExecutionEventSchema, init);
const workflow = (phase: Workflow) => event({ event: { case: "workflow", value: { phase } } });
const node = (nodeId: string, phase: Node) => event({ event: { case: "node", value: { id: { nodeId }, phase } } });

/** An admin that answers as told: `answers` maps an event's name to errors, used up in order. */
function fixture(answers: Record<string, (RpcError | undefined)[]> = {}) {
  const calls: string[] = [];
  const events: PublishedEvent[] = [];
  const observed: [string, Observation][] = [];
  let gate: Promise<void> = Promise.resolve();
  const take = async (published: PublishedEvent) => {
    await gate;
    const name = eventName(published);
    calls.push(name);
    events.push(published);
    const answer = answers[name]?.shift();
    if (answer !== undefined) throw answer;
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
    maxWaiting: 6,
    delay: () => 1,
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

test("events of an execution go in order over failures, and the answer to the end is the record", async () => {
  const away = () => new RpcError(Code.UNAVAILABLE, "away");
  const f = fixture({
    [`workflow ${Workflow.RUNNING}`]: [away(), new RpcError(Code.RESOURCE_EXHAUSTED, "slow down")],
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
  expect(f.observed).toEqual([["d/a", { kind: "recorded", phase: "SUCCEEDED" }]]);
  expect(f.sink.waiting).toBe(0);
});

test("an execution that waits for its recorder does not hold up another, and repeats are sent once", async () => {
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

test("refusals reach the engine by their cause", async () => {
  const f = fixture({
    [`workflow ${Workflow.RUNNING}`]: [
      new RpcError(Code.NOT_FOUND, "none"),
      refusal({ case: "alreadyInTerminalState", value: { currentPhase: "ABORTED" } as never }),
      refusal({ case: "incompatibleCluster", value: { cluster: "c" } as never }),
    ],
    [`node n0 ${Node.RUNNING}`]: [refusal({ case: "alreadyInTerminalState", value: { currentPhase: "FAILED" } as never })],
    [`node n1 ${Node.RUNNING}`]: Array.from({ length: 20 }, () => new RpcError(Code.NOT_FOUND, "no parent")),
  });
  for (let i = 0; i < 3; i++) await f.sink.publish("d/a", workflow(Workflow.RUNNING));
  await f.sink.publish("d/a", node("n0", Node.RUNNING));
  await f.sink.publish("d/a", node("n1", Node.RUNNING));
  expect(f.observed.map(([, observation]) => observation.kind === "rejected" && observation.cause)).toEqual([
    "notFound",
    "terminal",
    "incompatibleCluster",
  ]);
  expect(f.calls.filter((name) => name.startsWith("node n1"))).toHaveLength(9);
});

test("a recorder that is far behind is spared what was overtaken, never an end", async () => {
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

test("values that no address holds go with the event", async () => {
  const f = fixture();
  const uri = { case: "outputUri" as const, value: "s3://b/outputs.pb" };
  await f.sink.publish("d/a", event({ event: { case: "node", value: { phase: Node.SUCCEEDED, outputResult: uri } }, outputs }));
  await f.sink.publish("d/a", event({ event: { case: "node", value: { phase: Node.RUNNING, outputResult: uri } } }));
  expect(f.events.map(({ event: { outputResult } }) => outputResult.case)).toEqual(["outputData", "outputUri"]);
});
