import { Code, createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningAdmin, startAdmin } from "../stack/admin-fixture.js";
import { identifier, taskRequest, workflowRequest } from "./valid-requests.js";

const NODES = 30_000;
let admin: RunningAdmin;
let client: FlyteClient;
beforeAll(async () => {
  admin = await startAdmin();
  client = createFlyteClient({ endpoint: `127.0.0.1:${admin.api}`, deadlineMs: 120_000 });
  await client.admin.createTask(taskRequest(identifier(ResourceType.TASK)));
});
afterAll(async () => {
  client.close();
  await admin.stop();
});

/**
 * Builds a workflow of independent nodes, except for the last node, which depends on the nodes
 * `last`.
 */
function largeWorkflowRequest(name: string, last: readonly string[] = []) {
  const after: Record<string, readonly string[]> = {};
  for (let i = 0; i < NODES; i++) after[`n${i}`] = [];
  after[`n${NODES - 1}`] = last;
  return workflowRequest(identifier(ResourceType.WORKFLOW, { name }), after);
}

test("the registration of a workflow with many nodes does not delay other calls", async () => {
  const request = largeWorkflowRequest("large");
  const { project, domain, name } = request.id;
  const tasks = { id: { project, domain, name }, limit: 10 };
  const before = await client.admin.listTasks(tasks);
  let pending = true;
  const created = client.admin.createWorkflow(request).finally(() => {
    pending = false;
  });
  let served = 0;
  for (; pending; served++) expect(await client.admin.listTasks(tasks)).toEqual(before);
  await created;
  // Compilation on the main thread would serve some thirty calls; compilation in a worker serves
  // more than a thousand.
  expect(served).toBeGreaterThan(150);

  const { closure } = await client.admin.getWorkflow({ id: request.id });
  expect(closure?.compiledWorkflow?.primary?.template?.nodes).toHaveLength(NODES + 2);
  await expect(client.admin.createWorkflow(request)).rejects.toMatchObject({ code: Code.ALREADY_EXISTS });
  await expect(client.admin.createWorkflow(largeWorkflowRequest("large", ["n1"]))).rejects.toMatchObject({
    code: Code.INVALID_ARGUMENT,
    message: expect.stringContaining("different structure") as string,
  });
});

test("a large workflow that does not compile is refused with the reason", async () => {
  const { id: workflow, spec } = largeWorkflowRequest("broken");
  const [first, ...others] = spec.template.nodes;
  const inputs = [{ var: "a", binding: { value: { case: "promise" as const, value: { nodeId: "nowhere", var: "o" } } } }];
  const nodes = [{ ...first, inputs }, ...others];
  await expect(client.admin.createWorkflow({ id: workflow, spec: { template: { ...spec.template, nodes } } })).rejects.toMatchObject({
    code: Code.INVALID_ARGUMENT,
    message: expect.stringContaining("nowhere") as string,
  });
});
