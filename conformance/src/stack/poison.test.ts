import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { pluginHelloSubject } from "@flyte-ts/domain";
import type { Execution } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { TaskExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { createKubeClient, EVENTS, type KubeClient, type KubeObject } from "@flyte-ts/kubernetes";
import { type Bus, connectBus } from "@flyte-ts/messaging";
import { encodeHello } from "@flyte-ts/task-plugin";
import { createLogger } from "@flyte-ts/telemetry";
import { FLYTE_WORKFLOW_RESOURCE } from "@flyte-ts/workflow-crd";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type ExecutionName, insist, waitForEnd } from "./executions.js";
import { registerShellWorkflow, type ShellNode } from "./shell-tasks.js";
import { type RunningStack, runPython, startStack } from "./stack-fixture.js";

/** As short as a test wants it: what a real installation waits for is in the configuration's defaults. */
const PATIENCE = { LISTENMS: "12000", UNANSWEREDAFTERMS: "3000" };

let stack: RunningStack;
let client: FlyteClient;
let kube: KubeClient;
let bus: Bus;
let healthy: Identifier;
let elsewhere: string;
let count = 0;

beforeAll(async () => {
  for (const [name, value] of Object.entries(PATIENCE)) process.env[`FLYTE_TS_PROPELLER_PLUGINS__${name}`] = value;
  stack = await startStack();
  for (const name of Object.keys(PATIENCE)) delete process.env[`FLYTE_TS_PROPELLER_PLUGINS__${name}`];
  client = createFlyteClient({ endpoint: `127.0.0.1:${stack.api}` });
  kube = await createKubeClient({ kubeconfig: stack.kubeconfig });
  const ports = JSON.parse(readFileSync(join(stack.folder, "config", "ports.json"), "utf8")) as { nats: number };
  bus = await connectBus({
    url: `nats://127.0.0.1:${ports.nats}`,
    name: "test",
    logger: createLogger({ service: "test", level: "silent" }),
  });
  elsewhere = mkdtempSync(join(tmpdir(), "flyte-ts-poison-"));
  healthy = await registerShellWorkflow(client, "healthy", [
    { id: "n0", script: "true", after: [] },
    { id: "n1", script: "true", after: ["n0"] },
  ]);
}, 300_000);
afterAll(async () => {
  client.close();
  await kube.close();
  await bus.close();
  rmSync(elsewhere, { recursive: true, force: true });
  await stack.stop();
}, 60_000);

/** Whatever was done to another workflow, one that is well runs to its end. */
afterEach(async () => {
  const { closure } = await waitForEnd(client, await create(healthy), 60_000);
  if (closure?.phase !== WorkflowExecution_Phase.SUCCEEDED) throw new Error("a workflow that is well suffered from another");
}, 70_000);

async function create(launchPlan: Identifier): Promise<ExecutionName> {
  const id = { project: launchPlan.project, domain: launchPlan.domain, name: `p${count++}x${Date.now().toString(36)}` };
  await client.admin.createExecution({ ...id, spec: { launchPlan, metadata: {} }, inputs: {} });
  return id;
}

const one = (node: Partial<ShellNode>): ShellNode[] => [{ id: "n0", script: "sleep 600", after: [], ...node }];

const resourceOf = ({ name }: ExecutionName) => ({ namespace: "flytesnacks-development", name });
const read = (id: ExecutionName) =>
  kube.get<KubeObject & { status?: { nodeStatus?: Record<string, { message?: string; phase?: number }> } }>(
    FLYTE_WORKFLOW_RESOURCE,
    resourceOf(id),
  );

async function until<T>(ask: () => Promise<T | undefined>, patienceMs = 60_000): Promise<T> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const found = await ask().catch(() => undefined);
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error("it did not come to that");
    await sleep(100);
  }
}

/** The attempt of `n0` when it shows this reason. */
const attempt = (id: ExecutionName, reason: string) =>
  until(async () => {
    const { taskExecutions } = await client.admin.listTaskExecutions({ nodeExecutionId: { nodeId: "n0", executionId: id }, limit: 10 });
    return taskExecutions.find(({ closure }) => closure?.reason.includes(reason));
  });

function errorOf({ closure }: Execution): { code: string; message: string } {
  if (closure?.outputResult.case !== "error") throw new Error(`no error: ${JSON.stringify(closure?.outputResult.case)}`);
  return closure.outputResult.value;
}

/** Changes a running workflow's resource behind propeller's back, which reads it again after its restart. */
async function corrupt(id: ExecutionName, body: object): Promise<Execution> {
  await until(async () => ((await read(id))?.status?.nodeStatus?.["n0"] === undefined ? undefined : true));
  await kube.mergePatch(FLYTE_WORKFLOW_RESOURCE, { ...resourceOf(id), body });
  for (const pid of stack.pids("propeller")) process.kill(pid, "SIGKILL");
  return waitForEnd(client, id, 60_000);
}

test("a resource that cannot be read fails its execution, which says what is wrong with it", async () => {
  const id = await create(await registerShellWorkflow(client, "garbled", one({})));
  const execution = await corrupt(id, { spec: { nodes: 5 } });
  expect(WorkflowExecution_Phase[execution.closure?.phase ?? 0]).toBe("FAILED");
  expect(errorOf(execution)).toMatchObject({ code: "BadWorkflowSpecification", message: expect.stringContaining("spec.nodes") });
}, 120_000);

test("so does a blob that is missing", async () => {
  const id = await create(await registerShellWorkflow(client, "blobless", one({})));
  const execution = await corrupt(id, { offloadedInputs: "s3://my-s3-bucket/nowhere/inputs.pb", inputs: null });
  expect(errorOf(execution)).toMatchObject({
    code: "BadWorkflowSpecification",
    message: expect.stringContaining("nothing stands at s3://my-s3-bucket/nowhere/inputs.pb"),
  });
}, 120_000);

test("a task type that nobody serves waits and says so, and can be aborted", async () => {
  const id = await create(await registerShellWorkflow(client, "unserved", one({ type: "nobody-serves-this" })));
  const reason = "no plugin service serves task type [nobody-serves-this]";
  const waiting = await attempt(id, reason);
  expect(TaskExecution_Phase[waiting.closure?.phase ?? 0]).toBe("WAITING_FOR_RESOURCES");
  expect(await until(async () => (await read(id))?.status?.nodeStatus?.["n0"]?.message)).toBe(reason);
  await client.admin.terminateExecution({ id, cause: "nobody comes" });
  const execution = await waitForEnd(client, id, 30_000);
  expect(WorkflowExecution_Phase[execution.closure?.phase ?? 0]).toBe("ABORTED");
  const { items } = await kube.list<KubeObject & { reason: string; message: string }>(EVENTS, {
    namespace: "flytesnacks-development",
    fieldSelector: `involvedObject.name=${id.name}`,
  });
  expect(items.map((item) => `${item.reason}: ${item.message}`)).toEqual([
    "Started: the workflow has started",
    `NodeWaits: node n0: ${reason}`,
    "Aborted: Workflow aborted.",
  ]);
}, 120_000);

test("a plugin that is there and never answers is waited for with a reason; once it is gone that is said too", async () => {
  const announce = () => bus.publishVolatile(pluginHelloSubject, encodeHello({ name: "mute", taskTypes: ["mute"], finalizes: true }));
  announce();
  const timer = setInterval(announce, 1_000);
  // Propeller takes stock once a second.
  await sleep(2_500);
  const id = await create(await registerShellWorkflow(client, "mute", one({ type: "mute" })));
  await attempt(id, "is there and has not answered since");
  clearInterval(timer);
  const silent = await attempt(id, "has been silent since");
  expect(silent.closure?.reasons.map(({ message }) => message)).toEqual([
    expect.stringContaining("has not answered"),
    expect.stringContaining("has been silent since"),
  ]);
}, 120_000);

test("an error of ten megabytes is cut in its middle", async () => {
  const program = `
from flytekit import task, workflow

@task
def shout() -> int:
    if True:
        raise ValueError("BEGIN" + "x" * 4_900_000 + "FINISH")
    return 1

@workflow
def loud() -> int:
    return shout()
`;
  writeFileSync(join(elsewhere, "loud.py"), program);
  const name = `loud${Date.now().toString(36)}`;
  runPython({ stack, folder: elsewhere }, "pyflyte", ["run", "--remote", "--name", name, "loud.py", "loud"]);
  const execution = await waitForEnd(client, { project: "flytesnacks", domain: "development", name }, 90_000);
  const { message } = errorOf(execution);
  expect(message.length).toBeLessThan(250_000);
  expect(message).toContain("BEGIN");
  expect(message).toContain("FINISH");
  const size = JSON.stringify(await insist(async () => (await read({ project: "", domain: "", name })) ?? {})).length;
  expect(size).toBeLessThan(600_000);
}, 150_000);
