import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NodePhase } from "@flyte-ts/domain";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { type KubeObject, PODS } from "@flyte-ts/kubernetes";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ExecutionName, waitForEnd } from "./executions.js";
import { errorOf, PoisonedStack, until } from "./poisoned.js";
import { registerShellWorkflow } from "./shell-tasks.js";
import { runPython } from "./stack-fixture.js";

let poisoned: PoisonedStack;
let folder: string;
let ids: Record<"closure" | "outputs" | "futures" | "fault", ExecutionName>;

const program = (flag: string) => `
import os, time
from flytekit import dynamic, task, workflow

@task
def big() -> str:
    return "x" * 20_000

@task
def small() -> int:
    return 7

@task
def waits() -> int:
    while not os.path.exists("${flag}"):
        time.sleep(0.2)
    return 1

@task
def first(s: str, n: int) -> str:
    return s[:n]

@task
def hold(x: int) -> int:
    time.sleep(600)
    return x

@workflow
def outputs() -> str:
    return first(s=big(), n=waits())

@workflow
def fault() -> int:
    return hold(x=small())

@dynamic
def grow() -> int:
    return hold(x=3)

@workflow
def futures() -> int:
    return grow()
`;

beforeAll(async () => {
  poisoned = await PoisonedStack.start();
  folder = mkdtempSync(join(tmpdir(), "flyte-ts-lost-"));
  writeFileSync(join(folder, "lost.py"), program(join(folder, "flag")));
  const run = (workflow: string): ExecutionName => {
    const name = `${workflow}${Date.now().toString(36)}`;
    runPython({ stack: poisoned.stack, folder }, "pyflyte", ["run", "--remote", "--name", name, "lost.py", workflow]);
    return { project: "flytesnacks", domain: "development", name };
  };
  const shell = await registerShellWorkflow(poisoned.client, "closureless", [{ id: "n0", script: "sleep 600", after: [] }]);
  ids = { outputs: run("outputs"), futures: run("futures"), fault: run("fault"), closure: await poisoned.create(shell) };

  await poisoned.reaches(ids.closure, "n0", [NodePhase.Running]);
  await poisoned.reaches(ids.outputs, "n0", [NodePhase.Succeeded]);
  await poisoned.reaches(ids.futures, "n0", [NodePhase.DynamicRunning]);
  await poisoned.reaches(ids.fault, "n1", [NodePhase.Running]);
  await until(async () => ((await podsOf(ids.fault)).length > 0 ? true : undefined));

  poisoned.lose(ids.futures, "/futures.pb~");
  poisoned.lose(ids.futures, "/dynamic_compiled.pb~");
  poisoned.lose(ids.outputs, "/n0/data/0/outputs.pb~");
  // Do this last: propeller reads the change at once and deletes the pods.
  await poisoned.spoil(ids.closure, {
    workflowClosureReference: "s3://my-s3-bucket/nowhere/closure.pb",
    spec: null,
    tasks: null,
    subWorkflows: null,
  });
  // Corrupt the outputs below a running attempt: the engine cannot bypass them.
  await poisoned.spoil(ids.fault, { status: { nodeStatus: { n0: { outputs: "////" } } } });
  poisoned.restartPropeller();
  writeFileSync(join(folder, "flag"), "");
}, 300_000);
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await poisoned.stop();
}, 60_000);

const podsOf = async ({ name }: ExecutionName) => {
  const { items } = await poisoned.kube.list<KubeObject>(PODS, {
    namespace: "flytesnacks-development",
    labelSelector: `execution-id=${name},node-id=n1`,
  });
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
};

async function failure(id: ExecutionName) {
  const execution = await waitForEnd(poisoned.client, id, 90_000);
  expect(WorkflowExecution_Phase[execution.closure?.phase ?? 0]).toBe("FAILED");
  return errorOf(execution);
}

test("a closure that is gone fails its execution, which names the address", { timeout: 120_000 }, async () => {
  expect(await failure(ids.closure)).toMatchObject({
    code: "BadWorkflowSpecification",
    message: expect.stringMatching(/workflowClosureReference.*nothing stands at s3:\/\/my-s3-bucket\/nowhere\/closure\.pb/),
  });
});

test("so do outputs of a node that are gone when another needs them", { timeout: 120_000 }, async () => {
  expect(await failure(ids.outputs)).toMatchObject({
    code: "BindingResolutionFailure",
    message: expect.stringMatching(/inputs of node \[n2\]: Outputs not found at \[s3:.*\/n0\/data\/0\/outputs\.pb\]/),
  });
});

test("and what a dynamic task made", { timeout: 120_000 }, async () => {
  expect(await failure(ids.futures)).toMatchObject({
    code: "DynamicWorkflowBuildFailed",
    message: expect.stringMatching(/nothing stands at s3:.*\/n0\/data\/0\/futures\.pb/),
  });
});

test("an execution on which the engine fails again and again ends with that, and what it ran is stopped", {
  timeout: 120_000,
}, async () => {
  expect(await failure(ids.fault)).toMatchObject({
    code: "EngineFault",
    message: expect.stringContaining("the engine has failed 8 times in a row on this execution: "),
  });
  await until(async () => ((await podsOf(ids.fault)).length === 0 ? true : undefined));
});
