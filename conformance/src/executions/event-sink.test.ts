import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { NodeExecution_Phase, TaskExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { createKubeClient, type KubeClient, type KubeObject } from "@flyte-ts/kubernetes";
import { FLYTE_WORKFLOW_RESOURCE } from "@flyte-ts/workflow-crd";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ExecutionName, retryWhileUnavailable, waitForEnd } from "../stack/executions.js";
import { registerShellWorkflow } from "../stack/shell-tasks.js";
import { type RunningStack, runPython, startStack } from "../stack/stack-fixture.js";

const SINK = "FLYTE_TS_PROPELLER_EVENTS__SINK";
const scope = { project: "flytesnacks", domain: "development" };

let stack: RunningStack;
let client: FlyteClient;
let kube: KubeClient;
let elsewhere: string;

beforeAll(async () => {
  process.env[SINK] = "grpc";
  stack = await startStack();
  delete process.env[SINK];
  client = createFlyteClient({ endpoint: `127.0.0.1:${stack.api}` });
  kube = await createKubeClient({ kubeconfig: stack.kubeconfig });
  elsewhere = mkdtempSync(join(tmpdir(), "flyte-ts-sink-"));
}, 300_000);
afterAll(async () => {
  client.close();
  await kube.close();
  rmSync(elsewhere, { recursive: true, force: true });
  await stack.stop();
}, 60_000);

async function create(name: string, scripts: readonly string[]): Promise<ExecutionName> {
  const nodes = scripts.map((script, index) => ({ id: `n${index}`, script, after: index === 0 ? [] : [`n${index - 1}`] }));
  const launchPlan = await registerShellWorkflow(client, name, nodes);
  const id = { ...scope, name };
  await client.admin.createExecution({ ...id, spec: { launchPlan, metadata: {} }, inputs: {} });
  return id;
}

/** Waits until the engine has removed the finalizer, which it does when the end is recorded. */
async function waitUntilFinalizerRemoved({ name }: ExecutionName): Promise<void> {
  await retryWhileUnavailable(async () => {
    const found = await kube.get<KubeObject>(FLYTE_WORKFLOW_RESOURCE, { namespace: "flytesnacks-development", name });
    if (found !== undefined && found.metadata.labels?.["termination-status"] !== "terminated") throw new Error(`${name} is not let go`);
  }, 20_000);
}

async function phases(id: ExecutionName): Promise<Record<string, string>> {
  const { nodeExecutions } = await client.admin.listNodeExecutions({ workflowExecutionId: id, limit: 100 });
  const phaseByNode: Record<string, string> = {};
  for (const { id: node, closure } of nodeExecutions) {
    phaseByNode[node?.nodeId ?? ""] = NodeExecution_Phase[closure?.phase ?? 0] ?? "";
    const { taskExecutions } = await client.admin.listTaskExecutions({ nodeExecutionId: node!, limit: 10 });
    for (const task of taskExecutions)
      phaseByNode[`${node?.nodeId ?? ""}/${task.id?.retryAttempt ?? 0}`] = TaskExecution_Phase[task.closure?.phase ?? 0] ?? "";
  }
  return phaseByNode;
}

test("admin records workflows, nodes and attempts from events by gRPC, successes and failures", async () => {
  const good = await create("sinkgood", ["true", "true"]);
  const bad = await create("sinkbad", ["echo it broke >&2; exit 3"]);
  const [succeeded, failed] = await Promise.all([waitForEnd(client, good, 60_000), waitForEnd(client, bad, 60_000)]);
  expect(WorkflowExecution_Phase[succeeded.closure?.phase ?? 0]).toBe("SUCCEEDED");
  expect(await phases(good)).toMatchObject({ n0: "SUCCEEDED", n1: "SUCCEEDED", "n0/0": "SUCCEEDED", "n1/0": "SUCCEEDED" });
  expect(failed.closure?.outputResult).toMatchObject({ case: "error", value: { message: expect.stringContaining("it broke") } });
  expect(await phases(bad)).toMatchObject({ n0: "FAILED", "n0/0": "FAILED" });
  await waitUntilFinalizerRemoved(good);
  await waitUntilFinalizerRemoved(bad);
}, 120_000);

test("an abort is recorded although propeller and admin are killed", async () => {
  const id = await create("sinkabort", ["sleep 600"]);
  await retryWhileUnavailable(async () => expect((await phases(id))["n0/0"]).toBe("RUNNING"), 60_000);
  for (const part of ["propeller", "admin"] as const) for (const pid of stack.pids(part)) process.kill(pid, "SIGKILL");
  await retryWhileUnavailable(() => client.admin.terminateExecution({ id, cause: "enough" }));
  const execution = await waitForEnd(client, id, 90_000);
  expect(WorkflowExecution_Phase[execution.closure?.phase ?? 0]).toBe("ABORTED");
  await waitUntilFinalizerRemoved(id);
}, 180_000);

test("inputs and outputs can be read", async () => {
  const program = `
from flytekit import task, workflow

@task
def double(a: int) -> int:
    return a * 2

@workflow
def twice(a: int) -> int:
    return double(a=double(a=a))
`;
  writeFileSync(join(elsewhere, "twice.py"), program);
  runPython({ stack, folder: elsewhere }, "pyflyte", ["run", "--remote", "--name", "sinkvalues", "twice.py", "twice", "--a", "5"]);
  const id = { ...scope, name: "sinkvalues" };
  const execution = await waitForEnd(client, id, 90_000);
  expect(WorkflowExecution_Phase[execution.closure?.phase ?? 0]).toBe("SUCCEEDED");
  const { fullOutputs } = await client.admin.getExecutionData({ id });
  expect(fullOutputs?.literals["o0"]?.value).toMatchObject({ value: { value: { value: { value: { value: 20n } } } } });
}, 150_000);
