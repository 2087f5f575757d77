import { create } from "@bufbuild/protobuf";
import { AgentSchema } from "@flyte-ts/idl/flyteidl/admin/agent_pb";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { DesiredState } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { decodeHeartbeat } from "@flyte-ts/task-plugin";
import { describe, expect, test } from "vitest";
import { Stage } from "./stage.fixture.js";

const limited = (limits: object) => ({ endpoints: [{ name: "toys", address: "toys:1", limits }] });

describe("limits of an endpoint", () => {
  test("further attempts wait with a reason, and start in order when others end", async () => {
    const stage = await Stage.start({ settings: limited({ tasks: 2 }) });
    for (let i = 0; i < 4; i++) await stage.send(stage.numbered(i));
    expect(stage.toys.jobs.size).toBe(2);
    expect(stage.history.at(-1)).toBe('WAITING_FOR_RESOURCES waiting for connector endpoint "toys": 2 of 2 tasks are in progress');
    const [first] = stage.toys.jobs.values();
    Object.assign(first ?? {}, { resource: { phase: Phase.SUCCEEDED } });
    await stage.clock.advance(5_000);
    expect([...stage.toys.jobs.keys()]).toEqual([0, 1, 2].map((i) => `s3://bucket/n${i}/0`));
    await stage.send(stage.numbered(1), DesiredState.ABORT);
    await stage.clock.advance(1_000);
    expect(stage.toys.jobs.size).toBe(4);
  });

  test("a project at its limit does not hold up another", async () => {
    const stage = await Stage.start({ settings: limited({ tasks: 3, tasksPerProject: 1 }) });
    const of = (index: number, project: string) => {
      const request = stage.numbered(index);
      const execution = request.id?.nodeExecutionId?.executionId;
      if (execution !== undefined) execution.project = project;
      return request;
    };
    await stage.send(of(0, "red"));
    await stage.send(of(1, "red"));
    await stage.send(of(2, "blue"));
    expect(stage.toys.jobs.size).toBe(2);
    expect(stage.history.some((line) => line.endsWith("1 of 1 tasks of project red are in progress"))).toBe(true);
  });
});

test("many tasks at one endpoint keep its rate, and each is polled at most once a second", async () => {
  const stage = await Stage.start({ settings: limited({ callsPerSecond: 100, burst: 20, concurrentCalls: 1_000 }) });
  await Promise.all(Array.from({ length: 1_000 }, (_, i) => stage.send(stage.numbered(i))));
  const jobs = () => [...stage.toys.jobs.values()];
  await stage.clock.advance(75_000);
  expect(jobs()).toHaveLength(1_000);
  const before = jobs().map(({ polls }) => polls);
  const callsBefore = stage.toys.calls.length;
  const polled = () => jobs().map(({ polls }, i) => polls - (before[i] ?? 0));
  await stage.clock.advance(10_000);
  expect(Math.max(...polled())).toBeLessThanOrEqual(10);
  expect(stage.toys.calls.length - callsBefore).toBeLessThanOrEqual(1_021);
  // No task starves.
  await stage.clock.advance(10_000);
  expect(Math.min(...polled())).toBeGreaterThan(0);
}, 240_000);

test("an endpoint that hangs delays no task of another", async () => {
  const settings = {
    endpoints: [
      { name: "slow", address: "slow:1" },
      { name: "toys", address: "toys:1" },
    ],
    connectorForTaskTypes: { sleepy: "slow" },
  };
  const stage = await Stage.start({ settings });
  stage.connector("slow").agents = [];
  stage.connector("slow").onCall = (name) => (name === "CreateTask" ? new Promise(() => undefined) : undefined);
  await stage.clock.advance(10_000);
  for (let i = 0; i < 100; i++) await stage.send(stage.numbered(i, "sleepy"));
  await stage.send(stage.numbered(100));
  await stage.clock.advance(1_000);
  expect(stage.toys.jobs.size).toBe(1);
  expect([...stage.toys.jobs.values()][0]?.polls).toBe(1);
});

describe("task types that come and go", () => {
  const announced = (stage: Stage) => {
    const all = stage.bus.ephemeral.splice(0).flatMap(({ data }) => decodeHeartbeat(data)?.taskTypes ?? []);
    return [...new Set(all)].sort();
  };
  const agent = (name: string) => create(AgentSchema, { supportedTaskCategories: [{ name, version: 0 }] });

  test("are announced and served as the connector announces them", async () => {
    const stage = await Stage.start();
    expect(announced(stage)).toEqual(["sync-toy", "toy"]);
    stage.toys.agents = [agent("new")];
    await stage.clock.advance(10_000);
    announced(stage);
    await stage.clock.advance(10_000);
    expect(announced(stage)).toEqual(["new"]);
    await stage.send(stage.numbered(1, "toy"));
    expect(stage.bus.unacknowledged).toBe(1);
    await stage.send(stage.numbered(2, "new"));
    expect(stage.toys.jobs.size).toBe(1);
  });

  test("stay served until their last attempt has ended, and new attempts wait with a reason", async () => {
    const stage = await Stage.start();
    await stage.send(stage.numbered(1));
    stage.toys.agents = [];
    await stage.clock.advance(20_000);
    await stage.send(stage.numbered(2));
    expect(stage.history.at(-1)).toBe('WAITING_FOR_RESOURCES no connector announces the task type "toy"');
    await stage.send(stage.numbered(2), DesiredState.ABORT);
    await stage.send(stage.numbered(1), DesiredState.ABORT);
    await stage.clock.advance(20_000);
    announced(stage);
    await stage.clock.advance(20_000);
    expect(announced(stage)).toEqual([]);
  });

  test("start waiting attempts when they return", async () => {
    const stage = await Stage.start();
    await stage.send(stage.numbered(1));
    const { agents } = stage.toys;
    stage.toys.agents = [];
    await stage.clock.advance(10_000);
    await stage.send(stage.numbered(2));
    stage.toys.agents = agents;
    await stage.clock.advance(11_000);
    expect(stage.toys.jobs.size).toBe(2);
  });
});
