import { type ChildProcess, spawn } from "node:child_process";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { FlyteClient } from "@flyte-ts/client";
import { scheduledExecutionName } from "@flyte-ts/domain/name";
import { type Execution, ExecutionMetadata_ExecutionMode } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { LaunchPlanState } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { retryWhileUnavailable, waitForEnd } from "../stack/executions.js";
import { registerShellWorkflow, TARGET } from "../stack/shell-tasks.js";
import { type RunningStack, runPython, startStack } from "../stack/stack-fixture.js";
import { type StackClient, connectToStack } from "../stack/use-stack.js";
import { root } from "../repository.js";
import { builtProgram } from "../stack/built-program.js";

const scope = { project: "flytesnacks", domain: "development" };
const INTERVAL_MS = 2_000;

let stack: RunningStack;
let client: FlyteClient;
let folder: string;
let close: StackClient["close"];
/** A second replica beside that of the stack. */
let second: ChildProcess;

beforeAll(async () => {
  stack = await startStack();
  ({ client, folder, close } = connectToStack(stack));
  second = startSecondReplica();
  copyFileSync(join(root, "conformance", "python", "scheduled.py"), join(folder, "scheduled.py"));
  runPython({ stack, folder }, "pyflyte", ["register", "--activate-launchplans", "--version", "v1", "scheduled.py"]);
}, 300_000);
afterAll(async () => {
  second.kill("SIGKILL");
  await close();
}, 60_000);

function startSecondReplica(): ChildProcess {
  const config = join(stack.folder, "config", "scheduler.yaml");
  const main = builtProgram(join(root, "services", "scheduler"));
  return spawn(process.execPath, [main, "--config", config, "--ops.port", "0"], { stdio: "ignore" });
}

async function runsOf(launchPlan: string): Promise<Execution[]> {
  const filters = `eq(launch_plan.name,${launchPlan})`;
  return (await retryWhileUnavailable(() => client.admin.listExecutions({ id: scope, filters, limit: 100 }))).executions;
}

const timeOf = ({ spec }: Execution) => (spec?.metadata?.scheduledAt === undefined ? 0 : timestampMs(spec.metadata.scheduledAt));

// Both wait for times of schedules; the second one's runs start although replicas are killed.
test.concurrent("two replicas that are killed start every run of a schedule exactly once", async () => {
  const { workflowId } = (
    await client.admin.getLaunchPlan({ id: await registerShellWorkflow(client, "ticks", [{ id: "n0", script: "true", after: [] }]) })
  ).spec ?? { workflowId: undefined };
  if (workflowId === undefined) throw new Error("no workflow");
  const id = { ...TARGET, resourceType: 3, name: "ticks.often" };
  const schedule = { ScheduleExpression: { case: "cronSchedule" as const, value: { schedule: "@every 2s" } } };
  await client.admin.createLaunchPlan({ id, spec: { workflowId, entityMetadata: { schedule } } });
  await client.admin.updateLaunchPlan({ id, state: LaunchPlanState.ACTIVE });
  const until = async (count: number) => {
    await vi.waitUntil(async () => (await runsOf(id.name)).length >= count, { timeout: 60_000, interval: 250 });
  };
  const kill = (who: "first" | "second") => {
    if (who === "second") second.kill("SIGKILL");
    else for (const pid of stack.pids("scheduler")) if (pid !== second.pid) process.kill(pid, "SIGKILL");
  };
  await until(2);
  kill("first");
  await until(4);
  kill("second");
  await until(6);
  second = startSecondReplica();
  await until(8);
  kill("first");
  kill("second");
  await until(11);
  await client.admin.updateLaunchPlan({ id, state: LaunchPlanState.INACTIVE });
  await sleep(3 * INTERVAL_MS);
  const runs = await runsOf(id.name);
  const times = runs.map(timeOf).toSorted((a, b) => a - b);
  expect(times).toEqual(times.map((_, i) => (times[0] as number) + i * INTERVAL_MS));
  for (const run of runs) {
    expect(run.id?.name).toBe(scheduledExecutionName(id, timeOf(run)));
    expect(run.spec?.metadata?.mode).toBe(ExecutionMetadata_ExecutionMode.SCHEDULED);
  }
  await sleep(2 * INTERVAL_MS);
  expect(await runsOf(id.name)).toHaveLength(runs.length);
}, 180_000);

test.concurrent("a schedule from flytekit runs each minute with its time as an input, and the API returns its next run", async () => {
  const response = await fetch(`http://127.0.0.1:${stack.api}/api/v1/next_runs/flytesnacks/development/scheduled.by_cron?limit=2`);
  const { runs } = (await response.json()) as { runs: { scheduledAt?: string; scheduled_at?: string }[] };
  const [first, next] = runs.map((run) => Date.parse(run.scheduledAt ?? run.scheduled_at ?? ""));
  expect([(first as number) % 60_000, (next as number) - (first as number)]).toEqual([0, 60_000]);
  for (const [name, greeting] of [
    ["scheduled.by_cron", "hello"],
    ["scheduled.by_rate", "good day"],
  ] as const) {
    await vi.waitUntil(async () => (await runsOf(name)).length > 0, { timeout: 90_000, interval: 500 });
    const [run] = (await runsOf(name)).toSorted((a, b) => timeOf(a) - timeOf(b));
    if (run?.id === undefined) throw new Error("no run");
    const ended = await waitForEnd(client, run.id, 60_000);
    expect(WorkflowExecution_Phase[ended.closure?.phase ?? 0]).toBe("SUCCEEDED");
    const { fullOutputs } = await client.admin.getExecutionData({ id: run.id });
    const output = fullOutputs?.literals.o0?.value;
    const primitive = output?.case === "scalar" && output.value.value.case === "primitive" ? output.value.value.value.value : undefined;
    const greetingText = primitive?.case === "stringValue" ? primitive.value : "";
    expect(greetingText.startsWith(`${greeting} `)).toBe(true);
    expect(Date.parse(greetingText.slice(greeting.length + 1))).toBe(timeOf(run));
  }
}, 240_000);
