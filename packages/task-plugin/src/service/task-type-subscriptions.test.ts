import { toBinary } from "@bufbuild/protobuf";
import { ManualTime, settlePromises } from "@flyte-ts/async/manual-time";
import { pluginHelloSubject, taskRequestSubject } from "@flyte-ts/bus-contract";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { createLogger } from "@flyte-ts/telemetry";
import { beforeEach, describe, expect, it } from "vitest";
import { decodeHeartbeat } from "@flyte-ts/bus-contract";
import { MemoryBus, sampleRequest } from "../harness.js";
import { definePlugin, type PluginHost } from "../plugin.js";
import { type RunningPlugin, runPlugin } from "./run-plugin.js";
import { findUnclaimedTaskTypes } from "./task-type-subscriptions.js";

const NO_LOAD = { attempts: 0, oldestRequestMs: 0 };
const logger = createLogger({ service: "test", level: "silent" });

describe("a plugin whose task types change", () => {
  let bus: MemoryBus;
  let clock: ManualTime;
  let host: PluginHost;
  let running: RunningPlugin;

  const send = async (taskType: string) => {
    const request = sampleRequest(taskType, { generatedName: `${taskType}-n0-0` });
    await bus.send(taskRequestSubject(taskType, 7), toBinary(TaskRequestSchema, request));
    await settlePromises();
  };
  const answered = () => bus.events.map(({ event }) => event?.taskType);
  const heartbeats = (subject: string = pluginHelloSubject) =>
    bus.ephemeral
      .splice(0)
      .filter((message) => message.subject === subject)
      .map(({ data }) => decodeHeartbeat(data));

  beforeEach(async () => {
    bus = new MemoryBus();
    clock = new ManualTime();
    const plugin = definePlugin({
      name: "test",
      taskTypes: [],
      dynamicTaskTypes: true,
      start: (given) => {
        host = given;
      },
      reconcile: () => ({ phase: "RUNNING" }),
      abort: () => ({ phase: "ABORTED" }),
    });
    running = await runPlugin({ plugin, bus, logger, clock, instance: "i" });
  });

  it("serves nothing and announces nothing at first", async () => {
    await send("a");
    await clock.advance(10_000);
    expect(answered()).toEqual([]);
    expect(heartbeats()).toEqual([]);
  });

  it("receives and announces the types that it sets, and no longer those that left", async () => {
    await host.setTaskTypes(["a", "b"]);
    expect(heartbeats().map((heartbeat) => heartbeat?.taskTypes)).toEqual([["a", "b"]]);
    await send("a");
    expect(answered()).toEqual(["a"]);
    await host.setTaskTypes(["b"]);
    expect(heartbeats().map((heartbeat) => heartbeat?.taskTypes)).toEqual([["b"]]);
    await send("a");
    await send("b");
    expect(answered()).toEqual(["a", "b"]);
    expect(bus.unacknowledged).toBe(1);
    await host.setTaskTypes(["a"]);
    await bus.redeliver();
    await settlePromises();
    expect(answered()).toEqual(["a", "b", "a"]);
    expect(bus.events.every(({ event }) => event?.phase === Phase.RUNNING)).toBe(true);
  });

  it("announces types that came later as those of a new process", async () => {
    await host.setTaskTypes(["a"]);
    await clock.advance(60_000);
    heartbeats();
    await host.setTaskTypes(["a", "b"]);
    expect(heartbeats()).toEqual([
      { name: "test", taskTypes: ["a"], instance: "i", uptimeMs: 60_000, load: NO_LOAD },
      { name: "test", taskTypes: ["b"], instance: "i/1", uptimeMs: 0, load: NO_LOAD },
    ]);
    await clock.advance(10_000);
    expect(heartbeats().map((heartbeat) => heartbeat?.uptimeMs)).toEqual([70_000, 10_000]);
  });

  it("announces each type on the subject of this type", async () => {
    await host.setTaskTypes(["a", "b.c"]);
    const own = bus.ephemeral.filter(({ subject }) => subject !== pluginHelloSubject);
    expect(own.map(({ subject, data }) => [subject, decodeHeartbeat(data)?.taskTypes])).toEqual([
      ["flyte.plugin.hello.a", ["a"]],
      ["flyte.plugin.hello.b%2Ec", ["b.c"]],
    ]);
  });

  it("serves the other types when the bus refuses one, and stops without waiting for it", async () => {
    const subscribe = bus.subscribe.bind(bus);
    bus.subscribe = (options, handler) => {
      if (options.durable === "plugin-refused") return Promise.reject(new Error("no permission"));
      if (options.durable === "plugin-pending") return new Promise(() => undefined);
      return subscribe(options, handler);
    };
    await expect(host.setTaskTypes(["refused", "a"])).rejects.toThrow("no permission");
    void host.setTaskTypes(["a", "pending"]);
    await send("a");
    expect(answered()).toEqual(["a"]);
    await running.stop();
    await send("a");
    expect(answered()).toEqual(["a"]);
    await host.setTaskTypes(["b"]);
    heartbeats();
    await clock.advance(30_000);
    expect(heartbeats()).toEqual([]);
  });

  it("may not have fixed types beside", () => {
    const methods = { reconcile: () => ({ phase: "RUNNING" as const }), abort: () => ({ phase: "ABORTED" as const }) };
    expect(() => definePlugin({ name: "x", taskTypes: ["a"], dynamicTaskTypes: true, ...methods })).toThrow("must be empty");
  });
});

it("task types without a consumer, or with one of the same plugin, are unclaimed", async () => {
  const owners: Readonly<Record<string, string>> = { "plugin-own": "me", "plugin-other": "another", "plugin-old": "" };
  const findConsumers = (_: string, names: readonly string[]) =>
    Promise.resolve(new Map(names.filter((name) => name in owners).map((name) => [name, owners[name] ?? ""] as const)));
  const taskTypes = ["own", "other", "old", "new"];
  const unclaimed = await findUnclaimedTaskTypes({ bus: { findConsumers }, name: "me", taskTypes });
  expect([...unclaimed]).toEqual(["own", "new"]);
});
