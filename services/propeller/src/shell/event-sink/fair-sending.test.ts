import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import {
  NodeExecution_Phase as Node,
  TaskExecution_Phase as Task,
  WorkflowExecution_Phase as Workflow,
} from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { TaskExecutionEventSchema } from "@flyte-ts/idl/flyteidl/event/event_pb";
import { ExecutionEventSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import { createLogger } from "@flyte-ts/telemetry";
import { expect, test } from "vitest";
import { GrpcSink } from "./grpc-sink.js";

const CONCURRENCY = 16;
const ENDED = 200;
const EVENTS = 120;
const LATENCY_MS = 5;

/** Responses of the slow admin, counted; each call takes `LATENCY_MS`. */
function slowAdmin() {
  const load = { answered: 0, inFlight: 0, maxInFlight: 0 };
  const take = async () => {
    load.maxInFlight = Math.max(load.maxInFlight, ++load.inFlight);
    await sleep(LATENCY_MS);
    load.inFlight--;
    load.answered++;
    return {} as never;
  };
  const sink = new GrpcSink({
    admin: { createWorkflowEvent: take, createNodeEvent: take, createTaskEvent: take },
    observe: () => undefined,
    logger: createLogger({ service: "test", level: "silent" }),
    concurrency: CONCURRENCY,
    maxQueueLength: 2 * ENDED * EVENTS,
    backoffMs: () => 1,
    now: () => performance.now(),
  });
  return { load, sink };
}

const workflow = (phase: Workflow) => create(ExecutionEventSchema, { event: { case: "workflow", value: { phase } } });
const node = (nodeId: string) => create(ExecutionEventSchema, { event: { case: "node", value: { id: { nodeId }, phase: Node.RUNNING } } });
const attempt = (nodeId: string) => create(TaskExecutionEventSchema, { parentNodeExecutionId: { nodeId }, phase: Task.SUCCEEDED });

test("the events of a new execution do not wait for task events of 200 ended executions", async () => {
  const { load, sink } = slowAdmin();
  for (let execution = 0; execution < ENDED; execution++) {
    const key = `d/ended-${execution}`;
    void sink.publish(key, workflow(Workflow.SUCCEEDED));
    for (let task = 0; task < EVENTS; task++) void sink.forward(key, attempt(`n${task}`), undefined);
  }
  await expect.poll(() => load.answered, { timeout: 30_000 }).toBeGreaterThan(20 * ENDED);

  const before = load.answered;
  const waited: number[] = [];
  const events = [workflow(Workflow.RUNNING), ...Array.from({ length: 8 }, (_, index) => node(`n${index}`))];
  await Promise.all(events.map((event) => sink.publish("d/new", event).then(() => waited.push(load.answered - before))));
  sink.close();

  // Each event gets the next free slot, after the response to the one before.
  expect(waited).toHaveLength(events.length);
  for (const [index, responses] of waited.entries()) expect(responses).toBeLessThanOrEqual((index + 1) * 3 * CONCURRENCY);
  expect(load.maxInFlight).toBe(CONCURRENCY);
});
