import { create, toBinary } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ManualTime, settlePromises } from "@flyte-ts/async/manual-time";
import { taskRequestSubject } from "@flyte-ts/bus-contract";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { TypedInterfaceSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { type Literal, LiteralMapSchema, LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { DesiredState, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { runPlugin } from "@flyte-ts/task-plugin";
import { MemoryBus, pluginConformance, type PluginEnvironment, sampleRequest } from "@flyte-ts/task-plugin/harness";
import { createLogger } from "@flyte-ts/telemetry";
import { describe, expect, it } from "vitest";
import { echoOutputs } from "./echo.js";
import { echoPlugin } from "./plugin.js";

const logger = createLogger({ service: "test", level: "silent" });
const integer = (value: number): Literal =>
  create(LiteralSchema, {
    value: { case: "scalar", value: { value: { case: "primitive", value: { value: { case: "integer", value: BigInt(value) } } } } },
  });
const duration = (ms: number): Literal =>
  create(LiteralSchema, {
    value: { case: "scalar", value: { value: { case: "primitive", value: { value: { case: "duration", value: durationFromMs(ms) } } } } },
  });

function echoRequest(
  inputs: Record<string, SimpleType>,
  outputs: Record<string, SimpleType>,
  values: Record<string, Literal>,
): TaskRequest {
  const variables = (types: Record<string, SimpleType>) => ({
    variables: Object.fromEntries(
      Object.entries(types).map(([name, simple]) => [name, { type: { type: { case: "simple" as const, value: simple } } }]),
    ),
  });
  const request = sampleRequest("echo");
  if (request.template !== undefined) {
    request.template.interface = create(TypedInterfaceSchema, { inputs: variables(inputs), outputs: variables(outputs) });
  }
  request.inputs = create(LiteralMapSchema, { literals: values });
  return request;
}

function sleepRequest(ms: number, over: Partial<TaskRequest> = {}): TaskRequest {
  return sampleRequest("core-sleep", { inputs: create(LiteralMapSchema, { literals: { duration: duration(ms) } }), ...over });
}

const echoWorld = (echoDelayMs: number): PluginEnvironment => ({
  plugin: (clock) => echoPlugin({ clock, logger, echoDelayMs }),
  request: () => echoRequest({ a: SimpleType.INTEGER }, { o0: SimpleType.INTEGER }, { a: integer(1) }),
  invalidRequest: () => echoRequest({ a: SimpleType.INTEGER }, { o0: SimpleType.STRING }, { a: integer(1) }),
  complete: (_, clock) => clock.advance(echoDelayMs),
});

const sleepWorld: PluginEnvironment = {
  plugin: (clock) => echoPlugin({ clock, logger, echoDelayMs: 0 }),
  request: () => sleepRequest(5_000),
  invalidRequest: () => sampleRequest("core-sleep"),
  complete: (_, clock) => clock.advance(5_000),
};

describe.each([
  ["echo", echoWorld(0)],
  ["echo with a delay", echoWorld(1_000)],
  ["core-sleep", sleepWorld],
])("%s passes the conformance cases", (_, world) => {
  it.each(pluginConformance(() => world))("$name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});

describe("echo", () => {
  it("publishes one event, SUCCEEDED, with the outputs by value", async () => {
    const bus = new MemoryBus();
    const clock = new ManualTime();
    await runPlugin({ plugin: echoPlugin({ clock, logger, echoDelayMs: 0 }), bus, logger, clock });
    await bus.send(taskRequestSubject("echo", 7), toBinary(TaskRequestSchema, echoWorld(0).request()));
    await settlePromises();
    expect(bus.events.map(({ event }) => event?.phase)).toEqual([Phase.SUCCEEDED]);
    expect(bus.events[0]?.outputs?.literals).toEqual({ o0: integer(1) });
    expect(bus.events[0]?.event?.metadata?.pluginIdentifier).toBe("echo");
    expect(bus.events[0]?.event?.outputResult).toEqual({ case: "outputUri", value: expect.stringMatching(/\/n0\/data\/0\/outputs\.pb$/) });
  });

  it("maps any number of inputs to outputs by type and order", () => {
    const names = Array.from({ length: 11 }, (_, i) => `in${String(i).padStart(2, "0")}`);
    const request = echoRequest(
      { ...Object.fromEntries(names.map((name) => [name, SimpleType.INTEGER])), text: SimpleType.STRING },
      { o0: SimpleType.STRING, ...Object.fromEntries(names.map((_, i) => [`o${i + 1}`, SimpleType.INTEGER])) },
      Object.fromEntries(names.map((name, i) => [name, integer(i)])),
    );
    const { literals } = echoOutputs(request);
    expect(literals.o1).toEqual(integer(0));
    expect(literals.o2).toEqual(integer(1));
    expect(literals.o11).toEqual(integer(10));
    expect(literals).not.toHaveProperty("o0");
  });

  it("maps inputs and outputs of equal name first", () => {
    const request = echoRequest(
      { a: SimpleType.INTEGER, b: SimpleType.INTEGER },
      { b: SimpleType.INTEGER, c: SimpleType.INTEGER },
      { a: integer(1), b: integer(2) },
    );
    expect(echoOutputs(request).literals).toEqual({ b: integer(2), c: integer(1) });
  });

  it("fails when inputs and outputs do not match, or the request lacks inputs", () => {
    expect(() => echoOutputs(echoRequest({ a: SimpleType.INTEGER }, {}, {}))).toThrow("same type for each input");
    const absent = echoRequest({ a: SimpleType.INTEGER }, { o0: SimpleType.INTEGER }, {});
    absent.inputs = undefined;
    expect(() => echoOutputs(absent)).toThrow("by value");
  });
});

describe("core-sleep", () => {
  const stage = async () => {
    const bus = new MemoryBus();
    const clock = new ManualTime();
    const start = () => runPlugin({ plugin: echoPlugin({ clock, logger, echoDelayMs: 0 }), bus, logger, clock });
    const send = async (request: TaskRequest) => {
      await bus.send(taskRequestSubject("core-sleep", request.shard), toBinary(TaskRequestSchema, request));
      await settlePromises();
    };
    return { bus, clock, start, send, running: await start() };
  };
  const phases = (bus: MemoryBus) => bus.events.map(({ event }) => event?.phase);

  it("is RUNNING until its duration has passed", async () => {
    const { bus, clock, send } = await stage();
    await send(sleepRequest(5_000));
    await clock.advance(4_999);
    expect(phases(bus)).toEqual([Phase.RUNNING]);
    await clock.advance(1);
    expect(phases(bus)).toEqual([Phase.RUNNING, Phase.SUCCEEDED]);
  });

  it("keeps its wake time over a restart by the plugin state", async () => {
    const { bus, clock, send, running, start } = await stage();
    await send(sleepRequest(5_000));
    const pluginState = bus.events[0]?.pluginState ?? new Uint8Array();
    await running.stop();
    await clock.advance(3_000);
    await start();
    const requestedAt = timestampFromMs(clock.now());
    await send(sleepRequest(5_000, { pluginState, knownPhase: Phase.RUNNING, requestedAt }));
    await clock.advance(1_999);
    expect(phases(bus)).not.toContain(Phase.SUCCEEDED);
    await clock.advance(1);
    expect(phases(bus).at(-1)).toBe(Phase.SUCCEEDED);
  });

  it("is not aborted with the attempts of an earlier execution of its name", async () => {
    const { bus, clock, send } = await stage();
    const request = sleepRequest(5_000);
    await send(request);
    const { owner } = request;
    await send({ ...request, desired: DesiredState.ABORT_ALL, owner: owner && { ...owner, uid: "earlier" } });
    await clock.advance(5_000);
    expect(phases(bus)).toEqual([Phase.RUNNING, Phase.SUCCEEDED]);
    await send(sleepRequest(60_000, { generatedName: "other-n0-0" }));
    await send({ ...request, desired: DesiredState.ABORT_ALL });
    expect(phases(bus).at(-1)).toBe(Phase.ABORTED);
  });

  it("ends many sleeps on time with one timer, and none that was aborted", async () => {
    const { bus, clock, send } = await stage();
    const timersBefore = clock.pending;
    for (let i = 0; i < 300; i++)
      await bus.send(
        taskRequestSubject("core-sleep", 7),
        toBinary(TaskRequestSchema, sleepRequest(((i * 7919) % 300) + 1, { generatedName: `a-n${i}-0` })),
      );
    await settlePromises();
    expect(clock.pending).toBe(timersBefore + 1);
    await send(sleepRequest(0, { generatedName: "a-n5-0", desired: DesiredState.ABORT }));
    await clock.advance(300);
    const ends = bus.events.filter(({ event }) => event?.phase === Phase.SUCCEEDED);
    expect(ends).toHaveLength(299);
    const at = ends.map(({ event }) => Number(event?.occurredAt?.seconds) * 1_000 + Number(event?.occurredAt?.nanos) / 1e6);
    expect(at).toEqual([...at].sort((a, b) => a - b));
    expect(ends.some(({ event }) => event?.metadata?.generatedName === "a-n5-0")).toBe(false);
  });
});
