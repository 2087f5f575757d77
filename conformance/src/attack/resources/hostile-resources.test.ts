import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { isTerminalWorkflow } from "@flyte-ts/domain/phase";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { KubeObject } from "@flyte-ts/kubernetes";
import { FLYTE_WORKFLOW_RESOURCE } from "@flyte-ts/workflow-crd";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ExecutionName, waitForEnd } from "../../stack/executions.js";
import { BrokenInputStack, waitFor } from "../../broken-inputs/broken-input-stack.js";
import { registerSleepChain, sleepInputs } from "../../stack/sleep-chain.js";
import { type HostileResource, hostileResources, type ResourceJson } from "./hostile-resources.fixture.js";

// Creates FlyteWorkflows that admin never writes: propeller must end each with a reason and keep
// serving others.

interface SeenResource extends KubeObject {
  readonly status?: {
    readonly phase?: unknown;
    readonly notice?: string;
    readonly message?: string;
    readonly error?: { readonly code: string; readonly message: string };
  };
}

const NAMESPACE = "flytesnacks-development";
const BATCH = 16;

let stack: BrokenInputStack;
let listener: Server;
let requestCount = 0;
let chain: Identifier;
let victim: ExecutionName;
let processes: string;
let cases: readonly HostileResource[];
const refused = new Map<string, string>();
/** Last seen state by name; admin deletes resources that are not in its database. */
const seen = new Map<string, SeenResource>();
beforeAll(async () => {
  stack = await BrokenInputStack.start();
  listener = createServer((_, response) => {
    requestCount++;
    response.end();
  }).listen(0, "127.0.0.1");
  chain = await registerSleepChain(stack.client, 3);
  victim = await start("victim", 3_600_000);
  await stack.waitForNodePhase(victim, "n0", [1, 2]);
  const running = await waitFor(() => stack.resource(victim));
  const surroundings = {
    listener: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    victim: { project: "flyteexamples", domain: "production", name: "victim" },
  };
  cases = hostileResources(running as unknown as ResourceJson, surroundings);
  await runChain();
  processes = pids();
}, 300_000);
afterAll(async () => {
  listener?.close();
  await stack?.stop();
}, 60_000);

const pids = () =>
  JSON.stringify([
    stack.stack.pids("propeller"),
    stack.stack.pids("admin"),
    stack.stack.pids("plugin-echo"),
    stack.stack.pids("local-cluster"),
  ]);

async function start(name: string, sleepMs: number): Promise<ExecutionName> {
  const id = { project: chain.project, domain: chain.domain, name };
  await stack.client.admin.createExecution({ ...id, spec: { launchPlan: chain, metadata: {} }, inputs: sleepInputs(sleepMs) });
  return id;
}

let count = 0;
async function runChain(): Promise<void> {
  const { closure } = await waitForEnd(stack.client, await start(`chain${count++}`, 0), 60_000);
  expect(WorkflowExecution_Phase[closure?.phase ?? 0]).toBe("SUCCEEDED");
}

async function poll(): Promise<void> {
  const { items } = await stack.kube.list<SeenResource>(FLYTE_WORKFLOW_RESOURCE, { namespace: NAMESPACE });
  for (const item of items) if (item.metadata.name?.startsWith("hostile-") === true) seen.set(item.metadata.name, item);
}

const nameOf = ({ resource }: HostileResource) => (resource["metadata"] as { readonly name: string }).name;

/** Reports whether the resource is refused, ended, or blocked with a reason. */
function isSettled(one: HostileResource): boolean {
  const name = nameOf(one);
  const status = seen.get(name)?.status;
  return refused.has(name) || isTerminalWorkflow(Number(status?.phase)) || (status?.notice ?? "").includes("no plugin service serves");
}

test("each hostile resource ends or is refused, and a chain beside them succeeds", { timeout: 240_000 }, async () => {
  expect(cases.length).toBeGreaterThan(300);
  const begun = performance.now();
  for (let first = 0; first < cases.length; first += BATCH)
    await Promise.all(
      cases.slice(first, first + BATCH).map(async (one) => {
        try {
          await stack.kube.create(FLYTE_WORKFLOW_RESOURCE, one.resource as unknown as KubeObject);
        } catch (error) {
          refused.set(nameOf(one), String(error));
        }
      }),
    );
  await runChain();
  const open = async () => {
    await poll();
    return cases
      .filter((one) => !isSettled(one))
      .map((one) => `${nameOf(one)}: ${one.description}: ${JSON.stringify(seen.get(nameOf(one))?.status)?.slice(0, 300)}`);
  };
  await expect.poll(open, { timeout: 120_000, interval: 500 }).toEqual([]);
  process.stdout.write(
    `${cases.length} hostile resources, ${refused.size} refused, ended after ${((performance.now() - begun) / 1_000).toFixed(1)} s\n`,
  );
  await runChain();
  expect(pids()).toBe(processes);
});

test("hostile resources that cannot run have failed with a reason", () => {
  for (const one of cases) {
    const status = seen.get(nameOf(one))?.status;
    if (one.outcome !== "fails" || refused.has(nameOf(one))) continue;
    expect([one.description, status?.phase, status?.error?.message ?? status?.message]).toEqual([
      one.description,
      5,
      expect.stringMatching(/\w+ .*\w+/),
    ]);
  }
});

test("no hostile resource has accessed anything outside its own execution", async () => {
  expect(requestCount).toBe(0);
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect((await stack.execution(victim)).closure?.phase).toBe(WorkflowExecution_Phase.RUNNING);
  await stack.client.admin.terminateExecution({ id: victim, cause: "the test has seen enough" });
  expect(WorkflowExecution_Phase[(await waitForEnd(stack.client, victim, 60_000)).closure?.phase ?? 0]).toBe("ABORTED");
});

test("a running workflow fails after any invalid edit of its resource", { timeout: 120_000 }, async () => {
  const edits: readonly object[] = [
    { spec: { nodes: { n1: { kind: "teapot" } } } },
    { spec: { nodes: { n1: { kind: "workflow", workflow: { subWorkflowRef: "s0" } } } }, subWorkflows: { s1: {} } },
    { executionId: { project: "flyteexamples" } },
    { status: { phase: 77 } },
    { status: { dataDir: "s3://my-s3-bucket/elsewhere" } },
    { tasks: [], inputs: 5 },
  ];
  const ids = await Promise.all(edits.map((_, index) => start(`edited${index}`, 3_600_000)));
  for (const id of ids) await stack.waitForNodePhase(id, "n0", [1, 2]);
  await Promise.all(ids.map((id, index) => stack.patchResource(id, edits[index] as object)));
  for (const [index, id] of ids.entries()) {
    const { closure } = await waitForEnd(stack.client, id, 60_000);
    expect([edits[index], WorkflowExecution_Phase[closure?.phase ?? 0]]).toEqual([edits[index], "FAILED"]);
  }
  expect(pids()).toBe(processes);
});
