import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { TaskExecution_Phase as Task } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { TaskEventSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { Bus, BusMessage } from "@flyte-ts/messaging";
import { encodeMessage } from "@flyte-ts/proto-codec";
import { createLogger } from "@flyte-ts/telemetry";
import { expect, test } from "vitest";
import { forwardTaskEvents } from "./forward-task-events.js";
import { GrpcSink } from "./grpc-sink.js";

/** Forwarder whose bus delivers by `deliver`. Admin answers call N when `answers[N]` is called. */
async function fixture() {
  const answers: (() => void)[] = [];
  const answer = () => new Promise<never>((resolve) => answers.push(() => resolve({} as never)));
  const sink = new GrpcSink({
    admin: { createWorkflowEvent: answer, createNodeEvent: answer, createTaskEvent: answer },
    observe: () => undefined,
    logger: createLogger({ service: "test", level: "silent" }),
    concurrency: 2,
    maxQueueLength: 100,
    backoffMs: () => 1,
    now: () => 0,
  });
  const settled: string[] = [];
  let take: (messages: readonly BusMessage[]) => unknown = () => undefined;
  const subscribe: Bus["subscribe"] = (_, onMessages) => {
    take = onMessages;
    return Promise.resolve({ close: () => Promise.resolve() });
  };
  await forwardTaskEvents({ bus: { subscribe }, sink });
  const deliver = (name: string, event: MessageInitShape<typeof TaskEventSchema>) =>
    take([
      {
        subject: "flyte.event.task.1",
        data: encodeMessage(TaskEventSchema, create(TaskEventSchema, event)),
        deliveries: 1,
        ack: () => settled.push(`${name} acknowledged`),
        nak: () => settled.push(`${name} returned`),
        discard: (reason) => settled.push(`${name} discarded: ${reason}`),
      },
    ]);
  return { answers, deliver, settled, sink };
}

const succeeded = (nodeId: string) => ({
  workflowKey: "d/a",
  event: { parentNodeExecutionId: { nodeId }, phase: Task.SUCCEEDED },
});

test("an event is acknowledged when admin has it, a redelivered one not before", async () => {
  const f = await fixture();
  f.deliver("first", succeeded("n0"));
  f.deliver("second", succeeded("n1"));
  f.deliver("second again", succeeded("n1"));
  f.deliver("item of an array", { ...succeeded("n2"), partOfArray: true });
  expect(f.settled).toEqual(["item of an array acknowledged"]);
  f.answers[0]?.();
  await expect.poll(() => f.answers).toHaveLength(2);
  expect(f.settled.slice(1)).toEqual(["first acknowledged"]);
  f.answers[1]?.();
  await expect.poll(() => f.settled.slice(2).toSorted()).toEqual(["second acknowledged", "second again acknowledged"]);
});

test("events that wait when the sink is closed return to the bus", async () => {
  const f = await fixture();
  for (const node of ["n0", "n1", "n2"]) f.deliver(node, succeeded(node));
  f.answers[0]?.();
  await expect.poll(() => f.settled).toEqual(["n0 acknowledged"]);
  f.sink.close();
  await expect.poll(() => f.settled).toEqual(["n0 acknowledged", "n1 returned", "n2 returned"]);
});
