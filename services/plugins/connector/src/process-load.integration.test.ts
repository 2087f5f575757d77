import type { ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { toBinary } from "@bufbuild/protobuf";
import { TASK_STREAM, taskRequestSubject } from "@flyte-ts/bus-contract";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { DesiredState, type TaskEvent, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type Bus, connectBus } from "@flyte-ts/messaging";
import { createRpcServer, type RpcServer } from "@flyte-ts/rpc";
import { collectTaskEvents, sampleRequest } from "@flyte-ts/task-plugin/harness";
import { createLogger } from "@flyte-ts/telemetry";
import { memoryMib, natsFixture, type ServerFixture, startServiceProcess } from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ToyConnector } from "./toy-connector.fixture.js";

// `CONNECTORS=full`: as many tasks as one service of a kind is promised to bear.
const isFull = process.env["CONNECTORS"] === "full";
const TASKS = isFull ? 1_000 : 100;
const MEASURED_MS = isFull ? 60_000 : 3_000;
const MAX_RSS_MIB = 150;
const TASK_TYPE = "toy";
const PROGRAM = fileURLToPath(new URL("../bundle/main.js", import.meta.url));
const PATIENCE = { timeout: 300_000, interval: 200 };
const canRun = process.platform === "linux" && existsSync(PROGRAM);

describe.skipIf(!canRun)(`a service process with ${TASKS} tasks`, { timeout: 900_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-test-connector-load-"));
  const logger = createLogger({ service: "test", level: "silent" });
  const toys = new ToyConnector();
  let connector: RpcServer;
  let nats: ServerFixture;
  let bus: Bus;
  let events: readonly TaskEvent[];
  let service: ChildProcess;

  beforeAll(async () => {
    connector = createRpcServer({ logger, services: toys.services() });
    const { port } = await connector.listen({ host: "127.0.0.1", port: 0 });
    nats = await natsFixture();
    bus = await connectBus({ url: nats.url, name: "test", logger });
    events = await collectTaskEvents(bus);
    // As propeller does: plugin services create no streams.
    await bus.ensureStream(TASK_STREAM);
    const config = join(folder, "connector.yaml");
    const endpoints = [{ name: "toys", address: `127.0.0.1:${port}`, limits: { callsPerSecond: 1_000, burst: 1_000 } }];
    writeFileSync(config, JSON.stringify({ nats: { url: nats.url }, endpoints, ops: { port: 0 }, logLevel: "warn" }));
    service = startServiceProcess(PROGRAM, ["--config", config]);
  }, 180_000);
  afterAll(async () => {
    service?.kill("SIGKILL");
    await bus?.close();
    await connector?.drain({ deadlineMs: 100 });
    await nats?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const untilAll = (phase: Phase) =>
    vi.waitUntil(() => {
      const reached = events.filter(({ event }) => event?.phase === phase).map(({ event }) => event?.metadata?.generatedName);
      return new Set(reached).size >= TASKS;
    }, PATIENCE);
  const polls = () => [...toys.jobs.values()].map((job) => job.polls);

  it("needs little memory, and polls each task", async () => {
    for (let index = 0; index < TASKS; index++) {
      const request = sampleRequest(TASK_TYPE, { generatedName: `a-n${index}-0`, outputPrefix: `file://${folder}/n${index}/0` });
      const message = toBinary(TaskRequestSchema, { ...request, desired: DesiredState.RUN });
      await bus.publish(taskRequestSubject(TASK_TYPE, request.shard), message);
    }
    await untilAll(Phase.RUNNING);
    const peakAtStart = memoryMib(service.pid ?? 0, "VmHWM");
    const before = polls();
    await sleep(MEASURED_MS);
    await vi.waitUntil(() => polls().every((count, index) => count > (before[index] ?? 0)), PATIENCE);
    const rssUnderWay = memoryMib(service.pid ?? 0, "VmRSS");
    for (const job of toys.jobs.values()) job.resource = { phase: Phase.SUCCEEDED };
    await untilAll(Phase.SUCCEEDED);
    const peak = memoryMib(service.pid ?? 0, "VmHWM");
    const figures = `${TASKS} tasks of a connector: RSS ${peakAtStart} MiB at most while they start, ${rssUnderWay} under way, ${peak} at most`;
    process.stderr.write(`${figures}\n`);
    expect(toys.jobs.size).toBe(TASKS);
    expect(peak, figures).toBeLessThanOrEqual(MAX_RSS_MIB);
  });
});
