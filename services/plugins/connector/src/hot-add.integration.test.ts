import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { create, toBinary } from "@bufbuild/protobuf";
import { EVENT_STREAM, TASK_STREAM, taskRequestSubject } from "@flyte-ts/bus-contract";
import { freePort } from "@flyte-ts/host";
import { AgentSchema } from "@flyte-ts/idl/flyteidl/admin/agent_pb";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { type TaskEvent, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type Bus, connectBus } from "@flyte-ts/messaging";
import { createRpcServer, type RpcServer } from "@flyte-ts/rpc";
import { collectTaskEvents, sampleRequest } from "@flyte-ts/task-plugin/harness";
import { receiveHeartbeats } from "@flyte-ts/task-plugin";
import { createLogger } from "@flyte-ts/telemetry";
import { natsFixture, type ServerFixture, testWatchdog } from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ToyConnector } from "./toy-connector.fixture.js";

// The service with its default settings, and a connector that comes, goes and changes. Prints how
// soon its types are served.

const program = fileURLToPath(new URL("../dist/main.js", import.meta.url));
const logger = createLogger({ service: "test", level: "silent" });
const PATIENCE = { timeout: 60_000, interval: 20 };
const print = (text: string) => void process.stdout.write(`hot add: ${text}\n`);
const secondsSince = (ms: number) => ((performance.now() - ms) / 1_000).toFixed(2);

describe.skipIf(!existsSync(program))("a connector that comes and goes while the service runs", () => {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-hot-add-"));
  const toys = new ToyConnector();
  const announced = new Set<string>();
  let nats: ServerFixture;
  let bus: Bus;
  let port = 0;
  let events: readonly TaskEvent[] = [];
  let service: ChildProcess | undefined;
  let connector: RpcServer | undefined;

  const startService = () => {
    const endpoints = [{ name: "toys", address: `127.0.0.1:${port}` }];
    const config = join(folder, "connector.yaml");
    writeFileSync(config, JSON.stringify({ nats: { url: nats.url }, endpoints, ops: { port: 0 }, logLevel: "info" }));
    service = spawn(process.execPath, [program, "--config", config], { stdio: ["ignore", "pipe", "inherit"] });
    const spawnedAt = performance.now();
    service.stdout?.on("data", (chunk: Buffer) => {
      if (chunk.includes("plugin service started")) print(`the service has started ${secondsSince(spawnedAt)} s after its process`);
    });
    testWatchdog().watch(service, "SIGTERM");
  };
  const stopService = async (signal: NodeJS.Signals) => {
    const ended = new Promise((resolve) => service?.once("exit", resolve));
    service?.kill(signal);
    await ended;
  };
  const startConnector = async (...types: string[]) => {
    toys.agents = [create(AgentSchema, { supportedTaskCategories: types.map((name) => ({ name, version: 0 })) })];
    connector = createRpcServer({ logger, services: toys.services() });
    await connector.listen({ host: "127.0.0.1", port });
  };
  const stopConnector = async () => {
    await connector?.drain({ deadlineMs: 0 });
  };
  const send = async (taskType: string, name: string): Promise<TaskRequest> => {
    const request = sampleRequest(taskType, { generatedName: `${name}-0`, outputPrefix: `file://${folder}/${name}/0` });
    await bus.publish(taskRequestSubject(taskType, request.shard), toBinary(TaskRequestSchema, request));
    return request;
  };
  const eventsOf = ({ generatedName }: TaskRequest) => events.filter(({ event }) => event?.metadata?.generatedName === generatedName);
  const lastOf = (request: TaskRequest) => eventsOf(request).at(-1)?.event;
  const isRunning = (request: TaskRequest) =>
    vi.waitFor(() => expect(eventsOf(request).map(({ event }) => Phase[event?.phase ?? 0])).toContain("RUNNING"), PATIENCE);
  /** Prints the time until a type is announced, and until a task that waits for it runs. */
  const measure = async (title: string, taskType: string, start: () => Promise<void> | void) => {
    const waiting = await send(taskType, `${title.replaceAll(/\W+/g, "-")}-${taskType}`);
    announced.clear();
    const startedAt = performance.now();
    await start();
    await vi.waitFor(() => expect([...announced]).toContain(taskType), PATIENCE);
    const heard = secondsSince(startedAt);
    await isRunning(waiting);
    print(`${title}: announced after ${heard} s, a waiting task runs after ${secondsSince(startedAt)} s`);
    return waiting;
  };

  beforeAll(async () => {
    port = await freePort();
    nats = await natsFixture();
    bus = await connectBus({ url: nats.url, name: "test", logger });
    events = await collectTaskEvents(bus);
    for (const stream of [TASK_STREAM, EVENT_STREAM]) await bus.ensureStream(stream);
    receiveHeartbeats({ bus, now: () => Date.now(), onHeartbeat: ({ taskTypes }) => taskTypes.forEach((type) => announced.add(type)) });
  });
  afterAll(async () => {
    await stopService("SIGTERM");
    await stopConnector();
    await bus.close();
    await nats.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("serves the types of a connector that runs when the service starts", { timeout: 120_000 }, async () => {
    await startConnector("first");
    const task = await measure("the service starts", "first", startService);
    expect(Phase[lastOf(task)?.phase ?? 0]).toBe("RUNNING");
  });

  it("serves them after a restart, without waiting for other services", { timeout: 120_000 }, async () => {
    await stopService("SIGKILL");
    const task = await measure("the service starts again", "first", startService);
    expect(Phase[lastOf(task)?.phase ?? 0]).toBe("RUNNING");
  });

  it("serves the types of a connector that replaces another", { timeout: 120_000 }, async () => {
    await stopConnector();
    const task = await measure("a connector replaces another", "second", () => startConnector("first", "second"));
    expect(Phase[lastOf(task)?.phase ?? 0]).toBe("RUNNING");
  });

  it("serves the types of a connector that changes behind its connection", { timeout: 120_000 }, async () => {
    const task = await measure("a connector announces another type", "third", () => {
      toys.agents.push(create(AgentSchema, { supportedTaskCategories: [{ name: "third", version: 0 }] }));
    });
    expect(Phase[lastOf(task)?.phase ?? 0]).toBe("RUNNING");
  });

  it("tasks wait with a reason while it is away, and run when it is back", { timeout: 120_000 }, async () => {
    const running = await send("first", "running");
    await isRunning(running);
    await stopConnector();
    const stoppedAt = performance.now();
    const fresh = await send("first", "fresh");
    await vi.waitFor(() => {
      for (const task of [running, fresh]) expect(lastOf(task)?.reason).toMatch(/connector endpoint "toys", .*UNAVAILABLE/);
    }, PATIENCE);
    print(`the connector ends: tasks show it after ${secondsSince(stoppedAt)} s`);
    for (const job of toys.jobs.values()) job.resource = { phase: Phase.SUCCEEDED };
    const task = await measure("the connector is back", "first", () => startConnector("first"));
    await isRunning(fresh);
    for (const job of toys.jobs.values()) job.resource = { phase: Phase.SUCCEEDED };
    for (const each of [running, fresh, task]) await vi.waitFor(() => expect(lastOf(each)?.phase).toBe(Phase.SUCCEEDED), PATIENCE);
  });
});
