import { create } from "@bufbuild/protobuf";
import { NodeExecution_Phase as Node } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ExecutionEventSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import { createLogger } from "@flyte-ts/telemetry";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { GrpcSink } from "./grpc-sink.js";

const CONCURRENCY = 64;
const SERVERS = 2;
const SERVICE_MS = 40;
const LARGE = 80;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Admin that serves two calls at once, in order of arrival; the others wait there. */
function saturatedAdmin() {
  const waiting: (() => void)[] = [];
  const load = { answered: 0, free: SERVERS };
  const serve = async () => {
    if (load.free > 0) load.free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    await new Promise((resolve) => setTimeout(resolve, SERVICE_MS));
    load.answered++;
    const next = waiting.shift();
    if (next === undefined) load.free++;
    else next();
    return {} as never;
  };
  const sink = new GrpcSink({
    admin: { createWorkflowEvent: serve, createNodeEvent: serve, createTaskEvent: serve },
    observe: () => undefined,
    logger: createLogger({ service: "test", level: "silent" }),
    concurrency: CONCURRENCY,
    maxQueueLength: 100_000,
    backoffMs: () => 1,
    now: () => performance.now(),
  });
  return { load, sink };
}

const node = (nodeId: string, phase = Node.RUNNING) =>
  create(ExecutionEventSchema, { event: { case: "node", value: { id: { nodeId }, phase } } });

test("each event of a new execution waits for few others in an admin that is saturated, and admin stays busy", async () => {
  const { load, sink } = saturatedAdmin();
  for (let execution = 0; execution < LARGE; execution++)
    for (let event = 0; event < 200; event++) void sink.publish(`d/large-${execution}`, node(`n${event}`));
  while (load.answered < 64 * LARGE) await vi.advanceTimersByTimeAsync(1_000);

  const before = load.answered;
  const startedAt = performance.now();
  let recorded = 0;
  for (let event = 0; event < 20; event++) void sink.publish("d/new", node(`n${event}`)).then(() => recorded++);
  while (recorded < 20) await vi.advanceTimersByTimeAsync(SERVICE_MS);
  const answered = load.answered - before;
  const tookMs = performance.now() - startedAt;
  sink.close();

  expect(answered / recorded).toBeLessThan(CONCURRENCY / 4);
  expect(answered).toBeGreaterThan(0.8 * SERVERS * (tookMs / SERVICE_MS));
});

test("the end of a gate that has its signal does not wait for the starts of the execution's other gates", async () => {
  const { load, sink } = saturatedAdmin();
  for (let execution = 0; execution < LARGE; execution++)
    for (let event = 0; event < 200; event++) void sink.publish(`d/large-${execution}`, node(`n${event}`));
  while (load.answered < 64 * LARGE) await vi.advanceTimersByTimeAsync(1_000);

  const recorded = { isRunning: false, hasEnded: false };
  for (let gate = 0; gate < 20; gate++) {
    void sink.publish("d/gates", node(`g${gate}`, Node.QUEUED));
    void sink.publish("d/gates", node(`g${gate}`)).then(() => (recorded.isRunning ||= true));
  }
  while (!recorded.isRunning) await vi.advanceTimersByTimeAsync(SERVICE_MS);
  const before = load.answered;
  void sink.publish("d/gates", node("g0", Node.SUCCEEDED)).then(() => (recorded.hasEnded = true));
  while (!recorded.hasEnded) await vi.advanceTimersByTimeAsync(SERVICE_MS);
  sink.close();

  // The event in flight comes first, and each waits for as many as admin serves at once.
  expect(load.answered - before).toBeLessThan(3 * 8);
});
