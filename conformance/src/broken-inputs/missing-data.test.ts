import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NodePhase } from "@flyte-ts/domain/phase";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { type KubeObject, PODS } from "@flyte-ts/kubernetes";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ExecutionName, waitForEnd } from "../stack/executions.js";
import { errorOf, BrokenInputStack, waitFor } from "./broken-input-stack.js";
import { registerShellWorkflow } from "../stack/shell-tasks.js";
import { runPython } from "../stack/stack-fixture.js";

let broken: BrokenInputStack;
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
  broken = await BrokenInputStack.start();
  folder = mkdtempSync(join(tmpdir(), "flyte-ts-lost-"));
  writeFileSync(join(folder, "lost.py"), program(join(folder, "flag")));
  const run = (workflow: string): ExecutionName => {
    const name = `${workflow}${Date.now().toString(36)}`;
    runPython({ stack: broken.stack, folder }, "pyflyte", ["run", "--remote", "--name", name, "lost.py", workflow]);
    return { project: "flytesnacks", domain: "development", name };
  };
  const shell = await registerShellWorkflow(broken.client, "closureless", [{ id: "n0", script: "sleep 600", after: [] }]);
  ids = { outputs: run("outputs"), futures: run("futures"), fault: run("fault"), closure: await broken.create(shell) };

  await broken.waitForNodePhase(ids.closure, "n0", [NodePhase.Running]);
  await broken.waitForNodePhase(ids.outputs, "n0", [NodePhase.Succeeded]);
  await broken.waitForNodePhase(ids.futures, "n0", [NodePhase.DynamicRunning]);
  await broken.waitForNodePhase(ids.fault, "n1", [NodePhase.Running]);
  await waitFor(async () => ((await podsOf(ids.fault)).length > 0 ? true : undefined));

  broken.deleteBlob(ids.futures, "/futures.pb~");
  broken.deleteBlob(ids.futures, "/dynamic_compiled.pb~");
  broken.deleteBlob(ids.outputs, "/n0/data/0/outputs.pb~");
  // Do this last: propeller reads the change at once and deletes the pods.
  await broken.patchResource(ids.closure, {
    workflowClosureReference: "s3://my-s3-bucket/nowhere/closure.pb",
    spec: null,
    tasks: null,
    subWorkflows: null,
  });
  // Corrupt the outputs below a running attempt: the engine cannot bypass them.
  await broken.patchResource(ids.fault, { status: { nodeStatus: { n0: { outputs: "////" } } } });
  broken.restartPropeller();
  writeFileSync(join(folder, "flag"), "");
}, 300_000);
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await broken.stop();
}, 60_000);

const podsOf = async ({ name }: ExecutionName) => {
  const { items } = await broken.kube.list<KubeObject>(PODS, {
    namespace: "flytesnacks-development",
    labelSelector: `execution-id=${name},node-id=n1`,
  });
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
};

async function failure(id: ExecutionName) {
  const execution = await waitForEnd(broken.client, id, 90_000);
  expect(WorkflowExecution_Phase[execution.closure?.phase ?? 0]).toBe("FAILED");
  return errorOf(execution);
}

test("an execution whose closure is missing fails with its URI", { timeout: 120_000 }, async () => {
  expect(await failure(ids.closure)).toMatchObject({
    code: "BadWorkflowSpecification",
    message: expect.stringMatching(/workflowClosureReference.*there is no blob at s3:\/\/my-s3-bucket\/nowhere\/closure\.pb/),
  });
});

test("an execution fails when a node needs missing outputs of another", { timeout: 120_000 }, async () => {
  expect(await failure(ids.outputs)).toMatchObject({
    code: "BindingResolutionFailure",
    message: expect.stringMatching(/inputs of node \[n2\]: Outputs not found at \[s3:.*\/n0\/data\/0\/outputs\.pb\]/),
  });
});

test("an execution fails when the workflow of a dynamic task is missing", { timeout: 120_000 }, async () => {
  expect(await failure(ids.futures)).toMatchObject({
    code: "DynamicWorkflowBuildFailed",
    message: expect.stringMatching(/there is no blob at s3:.*\/n0\/data\/0\/futures\.pb/),
  });
});

test("an execution on which the engine fails repeatedly fails, and its pods are stopped", {
  timeout: 120_000,
}, async () => {
  expect(await failure(ids.fault)).toMatchObject({
    code: "EngineFault",
    message: expect.stringContaining("the engine has failed 8 times in a row on this execution: "),
  });
  await waitFor(async () => ((await podsOf(ids.fault)).length === 0 ? true : undefined));
});
