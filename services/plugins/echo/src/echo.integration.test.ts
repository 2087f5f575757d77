import { create, toBinary } from "@bufbuild/protobuf";
import { systemTime } from "@flyte-ts/async";
import { taskRequestSubject } from "@flyte-ts/bus-contract";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { TypedInterfaceSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type TaskEvent, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type Bus, connectBus } from "@flyte-ts/messaging";
import { runPlugin } from "@flyte-ts/task-plugin";
import { collectTaskEvents, sampleRequest } from "@flyte-ts/task-plugin/harness";
import { createLogger } from "@flyte-ts/telemetry";
import { natsFixture, type ServerFixture } from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { echoPlugin } from "./plugin.js";

const logger = createLogger({ service: "test", level: "silent" });
const clock = systemTime;

describe("the echo service over a real bus", () => {
  let nats: ServerFixture;
  let bus: Bus;
  let events: readonly TaskEvent[] = [];

  const request = (index: number) => {
    const sample = sampleRequest("echo", { generatedName: `a-n${index}-0` });
    const variables = { a: { type: { type: { case: "simple" as const, value: 1 } } } };
    if (sample.template !== undefined)
      sample.template.interface = create(TypedInterfaceSchema, { inputs: { variables }, outputs: { variables } });
    sample.inputs = create(LiteralMapSchema, { literals: { a: { hash: String(index) } } });
    return toBinary(TaskRequestSchema, sample);
  };
  const serve = () => runPlugin({ plugin: echoPlugin({ clock, logger, echoDelayMs: 0 }), bus, logger, clock, maxInFlight: 100 });
  const send = async (from: number, to: number) => {
    const subject = taskRequestSubject("echo", 7);
    await Promise.all(Array.from({ length: to - from }, (_, i) => bus.publish(subject, request(from + i))));
  };
  const answered = () => new Set(events.map(({ event }) => event?.metadata?.generatedName)).size;

  beforeAll(async () => {
    nats = await natsFixture();
    bus = await connectBus({ url: nats.url, name: "test", logger });
    events = await collectTaskEvents(bus);
  });
  afterAll(async () => {
    await bus.close();
    await nats.stop();
  });

  it("answers more requests than its limit of unacknowledged messages", async () => {
    const running = await serve();
    await send(0, 500);
    await vi.waitFor(() => expect(answered()).toBe(500), { timeout: 30_000 });
    expect(events.every(({ event, outputs }) => event?.phase === Phase.SUCCEEDED && outputs?.literals.a !== undefined)).toBe(true);
    await running.stop();
  });

  it("handles requests that were sent while it was down", async () => {
    await send(500, 550);
    const running = await serve();
    await vi.waitFor(() => expect(answered()).toBe(550), { timeout: 30_000 });
    await running.stop();
  });

  it("continues after a restart of the bus", async () => {
    const running = await serve();
    await nats.restart();
    await send(550, 600);
    await vi.waitFor(() => expect(answered()).toBe(600), { timeout: 30_000 });
    await running.stop();
  });
});
