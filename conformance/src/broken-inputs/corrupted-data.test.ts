import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { FlyteClient } from "@flyte-ts/client";
import { suspendProcess } from "@flyte-ts/testing";
import { pluginHelloSubject } from "@flyte-ts/bus-contract";
import { NodePhase } from "@flyte-ts/domain/phase";
import type { Execution } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { TaskExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { EVENTS, type KubeObject, NAMESPACES, PODS } from "@flyte-ts/kubernetes";
import { encodeHeartbeat } from "@flyte-ts/task-plugin";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { FLYTE_WORKFLOW_RESOURCE } from "@flyte-ts/workflow-crd";
import { type ExecutionName, retryWhileUnavailable, waitForEnd } from "../stack/executions.js";
import { errorOf, HUGE_ERROR_PROGRAM, BrokenInputStack, waitFor } from "./broken-input-stack.js";
import { registerShellWorkflow, type ShellNode } from "../stack/shell-tasks.js";
import { runPython } from "../stack/stack-fixture.js";

let broken: BrokenInputStack;
let client: FlyteClient;
let healthy: Identifier;
let elsewhere: string;

beforeAll(async () => {
  broken = await BrokenInputStack.start();
  ({ client } = broken);
  elsewhere = mkdtempSync(join(tmpdir(), "flyte-ts-poison-"));
  healthy = await registerShellWorkflow(client, "healthy", [
    { id: "n0", script: "true", after: [] },
    { id: "n1", script: "true", after: ["n0"] },
  ]);
}, 300_000);
afterAll(async () => {
  rmSync(elsewhere, { recursive: true, force: true });
  await broken.stop();
}, 60_000);

/** An unaffected workflow still succeeds after each case. */
afterEach(async () => {
  const { closure } = await waitForEnd(client, await broken.create(healthy), 60_000);
  if (closure?.phase !== WorkflowExecution_Phase.SUCCEEDED) throw new Error("a workflow that is well suffered from another");
}, 70_000);

const oneSleepNode = (node: Partial<ShellNode>): ShellNode[] => [{ id: "n0", script: "sleep 600", after: [], ...node }];

/** Resolves to the attempt of `n0` once it shows this reason. */
const attempt = (id: ExecutionName, reason: string) =>
  waitFor(async () => {
    const { taskExecutions } = await client.admin.listTaskExecutions({ nodeExecutionId: { nodeId: "n0", executionId: id }, limit: 10 });
    return taskExecutions.find(({ closure }) => closure?.reason.includes(reason));
  });

/**
 * Changes the resource of a running workflow directly and restarts propeller, which then reads the
 * changed resource. Resolves to the ended execution.
 */
async function corruptResource(id: ExecutionName, body: object): Promise<Execution> {
  await waitFor(async () => ((await broken.resource(id))?.status?.nodeStatus?.["n0"] === undefined ? undefined : true));
  await broken.patchResource(id, body);
  broken.restartPropeller();
  return waitForEnd(client, id, 60_000);
}

/** Pods of the execution that are not terminating. */
const podsOf = async ({ name }: ExecutionName) => {
  const selector = { namespace: "flytesnacks-development", labelSelector: `execution-id=${name}` };
  const { items } = await broken.kube.list<KubeObject>(PODS, selector);
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
};

/** Starts an execution whose pod sleeps for ten minutes. */
async function startSleeping(launchPlan: Identifier): Promise<ExecutionName> {
  const id = await broken.create(launchPlan);
  await broken.waitForNodePhase(id, "n0", [NodePhase.Running]);
  await waitFor(async () => ((await podsOf(id)).length === 1 ? true : undefined));
  return id;
}

describe.concurrent("while propeller restarts", () => {
  test("an execution with an undecodable resource fails with the reason", async () => {
    const id = await broken.create(await registerShellWorkflow(client, "garbled", oneSleepNode({})));
    const execution = await corruptResource(id, { spec: { nodes: 5 } });
    expect(WorkflowExecution_Phase[execution.closure?.phase ?? 0]).toBe("FAILED");
    expect(errorOf(execution)).toMatchObject({ code: "BadWorkflowSpecification", message: expect.stringContaining("spec.nodes") });
  }, 120_000);

  test("an execution whose blob is missing fails with the reason", async () => {
    const id = await broken.create(await registerShellWorkflow(client, "blobless", oneSleepNode({})));
    const place = `s3://my-s3-bucket/nowhere/${id.project}/${id.domain}/${id.name}/inputs.pb`;
    const execution = await corruptResource(id, { offloadedInputs: place, inputs: null });
    expect(errorOf(execution)).toMatchObject({
      code: "BadWorkflowSpecification",
      message: expect.stringContaining(`there is no blob at ${place}`),
    });
  }, 120_000);
});

test("the pod of an invalid workflow that is aborted is deleted", async () => {
  const id = await startSleeping(await registerShellWorkflow(client, "aborted", oneSleepNode({})));
  const propellers = broken.stack.pids("propeller");
  await Promise.all(propellers.map(suspendProcess));
  try {
    await broken.patchResource(id, { spec: { nodes: 5 }, status: "running" });
    await client.admin.terminateExecution({ id, cause: "nonsense" });
  } finally {
    for (const pid of propellers) process.kill(pid, "SIGCONT");
  }
  const execution = await waitForEnd(client, id, 60_000);
  expect(WorkflowExecution_Phase[execution.closure?.phase ?? 0]).toMatch(/ABORTED|FAILED/);
  await waitFor(async () => ((await podsOf(id)).length === 0 ? true : undefined));
  await waitFor(async () => ((await broken.resource(id)) === undefined ? true : undefined));
}, 120_000);

describe.concurrent("while propeller runs", () => {
  test("the pod of a workflow whose resource becomes invalid is deleted without a restart of propeller", async () => {
    const sleepWorkflow = await registerShellWorkflow(client, "edited", oneSleepNode({}));
    const edits = [
      { spec: { nodes: 5 } },
      { spec: null },
      { status: { nodeStatus: "nonsense" } },
      { status: { nodeStatus: { n0: { phase: "five", subNodeStatus: 7 } } } },
      { status: "running" },
      { tasks: null, subWorkflows: 3 },
      { spec: null, status: null, tasks: null, inputs: [] },
    ];
    const ids = await Promise.all(edits.map(() => startSleeping(sleepWorkflow)));
    await Promise.all(ids.map((id, index) => broken.patchResource(id, edits[index] as object)));
    for (const [index, id] of ids.entries()) {
      const execution = await waitForEnd(client, id, 60_000);
      expect([edits[index], WorkflowExecution_Phase[execution.closure?.phase ?? 0]]).toEqual([edits[index], "FAILED"]);
      expect(errorOf(execution)).toMatchObject({ code: "BadWorkflowSpecification" });
      await waitFor(async () => ((await podsOf(id)).length === 0 ? true : undefined));
      const aborted = await waitFor(async () => {
        const { taskExecutions } = await client.admin.listTaskExecutions({ nodeExecutionId: { nodeId: "n0", executionId: id }, limit: 10 });
        return taskExecutions.find(({ closure }) => (closure?.phase ?? 0) >= TaskExecution_Phase.SUCCEEDED);
      });
      expect(TaskExecution_Phase[aborted.closure?.phase ?? 0]).toMatch(/ABORTED|FAILED/);
    }
  }, 180_000);

  test("a resource cannot report events for an execution of another project", async () => {
    const id = await startSleeping(await registerShellWorkflow(client, "victim", oneSleepNode({})));
    const [own, elsewhere] = [await broken.resource(id), { namespace: "flytesnacks-staging", name: id.name }];
    const { labels = {}, finalizers = [] } = own?.metadata ?? {};
    const forged = { ...own, spec: { nodes: 5 }, status: { phase: 1 }, metadata: { ...elsewhere, labels, finalizers } };
    await broken.kube.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: elsewhere.namespace } });
    await broken.kube.create(FLYTE_WORKFLOW_RESOURCE, forged as unknown as KubeObject);
    const refused = await waitFor(async () => {
      const found = await broken.kube.get<KubeObject & { status?: { error?: object } }>(FLYTE_WORKFLOW_RESOURCE, elsewhere);
      return found?.status?.error === undefined ? undefined : found;
    });
    const rule = 'executionId: names an execution of namespace "flytesnacks-development", the resource is in "flytesnacks-staging"';
    expect(refused.status?.error).toMatchObject({ code: "BadWorkflowSpecification", message: expect.stringContaining(rule) });
    // The success of this later execution shows that all events about the victim have been
    // processed. The victim still runs.
    expect((await waitForEnd(client, await broken.create(healthy), 60_000)).closure?.phase).toBe(WorkflowExecution_Phase.SUCCEEDED);
    expect((await broken.execution(id)).closure?.phase).toBe(WorkflowExecution_Phase.RUNNING);
    expect(await podsOf(id)).toHaveLength(1);
    await client.admin.terminateExecution({ id, cause: "enough" });
  }, 180_000);

  test("an execution with an unserved task type is blocked with the reason and can be aborted", async () => {
    const id = await broken.create(await registerShellWorkflow(client, "unserved", oneSleepNode({ type: "unserved-type" })));
    const reason = "no plugin service serves task type [unserved-type]";
    const waiting = await attempt(id, reason);
    expect(TaskExecution_Phase[waiting.closure?.phase ?? 0]).toBe("WAITING_FOR_RESOURCES");
    expect(await waitFor(async () => (await broken.resource(id))?.status?.nodeStatus?.["n0"]?.message)).toBe(reason);
    expect(await broken.waitForError(id, `node n0: ${reason}`)).toMatchObject({ code: "Waiting" });
    await client.admin.terminateExecution({ id, cause: "no plugin service will start" });
    const execution = await waitForEnd(client, id, 30_000);
    expect(WorkflowExecution_Phase[execution.closure?.phase ?? 0]).toBe("ABORTED");
    const events = async () => {
      const selector = { namespace: "flytesnacks-development", fieldSelector: `involvedObject.name=${id.name}` };
      const { items } = await broken.kube.list<KubeObject & { reason: string; message: string }>(EVENTS, selector);
      return items.map((item) => `${item.reason}: ${item.message}`);
    };
    // Propeller records them after it has reported the end.
    await waitFor(async () => (await events()).find((event) => event.startsWith("Aborted")));
    expect(await events()).toEqual(["Started: the workflow has started", `NodeWaits: node n0: ${reason}`, "Aborted: Workflow aborted."]);
  }, 120_000);

  test("an execution is blocked with a reason while its plugin service does not respond, and with another when it is missing", async () => {
    const announce = () =>
      broken.bus.publishEphemeral(pluginHelloSubject, encodeHeartbeat({ name: "mute", taskTypes: ["mute"], instance: "", uptimeMs: 0 }));
    announce();
    const timer = setInterval(announce, 1_000);
    // Propeller counts its executions once a second.
    await sleep(2_500);
    const id = await broken.create(await registerShellWorkflow(client, "mute", oneSleepNode({ type: "mute" })));
    await attempt(id, "is available but has not answered since");
    expect(await broken.waitForError(id, "has not answered since")).toMatchObject({ code: "Waiting" });
    clearInterval(timer);
    const silent = await attempt(id, "has not sent a heartbeat since");
    await broken.waitForError(id, "has not sent a heartbeat since");
    expect(silent.closure?.reasons.map(({ message }) => message)).toEqual([
      expect.stringContaining("has not answered"),
      expect.stringContaining("has not sent a heartbeat since"),
    ]);
  }, 120_000);

  test("a task too large for the bus runs compressed, or fails with the reason", async () => {
    const create = async (name: string, script: string) =>
      broken.create(await registerShellWorkflow(client, name, oneSleepNode({ script, type: "echo" })));
    const [fits, large] = [
      await create("fits", "x".repeat(2 << 20)),
      await create("large", randomBytes(1.5 * (1 << 20)).toString("base64")),
    ];
    const execution = await waitForEnd(client, large, 60_000);
    expect(errorOf(execution)).toMatchObject({ code: "EntityTooLarge", message: expect.stringContaining("max_payload") as string });
    expect((await attempt(large, ""))?.closure?.phase).toBe(TaskExecution_Phase.FAILED);
    expect((await waitForEnd(client, fits, 60_000)).closure?.phase).toBe(WorkflowExecution_Phase.SUCCEEDED);
  }, 150_000);

  test("an error of ten megabytes is shortened in its middle", async () => {
    writeFileSync(join(elsewhere, "loud.py"), HUGE_ERROR_PROGRAM);
    const name = `loud${Date.now().toString(36)}`;
    runPython({ stack: broken.stack, folder: elsewhere }, "pyflyte", ["run", "--remote", "--name", name, "loud.py", "loud"]);
    const execution = await waitForEnd(client, { project: "flytesnacks", domain: "development", name }, 90_000);
    const { message = "" } = errorOf(execution) ?? {};
    expect(message.length).toBeLessThan(250_000);
    expect(message).toContain("BEGIN");
    expect(message).toContain("FINISH");
    const size = JSON.stringify(
      await retryWhileUnavailable(async () => (await broken.resource({ project: "", domain: "", name })) ?? {}),
    ).length;
    expect(size).toBeLessThan(600_000);
  }, 150_000);
});
