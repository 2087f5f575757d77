import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Database } from "@flyte-ts/postgres";
import { Code } from "@flyte-ts/rpc";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { adminConfigSchema } from "../../config.js";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { id, registerWorkflow, scope } from "../../executions/execution/registered-workflow.fixture.js";
import { seedProjects } from "../project/rpc.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";

const bounded = adminConfigSchema.parse({});
const unbounded = adminConfigSchema.parse({ registration: { maxWorkflowInstances: 0, maxWorkflowDepth: 0 } });
let database: AdminDatabase;
let db: Database;
let served: ServedAdmin;
let servedBefore: ServedAdmin;

beforeAll(async () => {
  database = await adminDatabase();
  ({ db } = database);
  served = await serveAdmin({ config: bounded, db });
  servedBefore = await serveAdmin({ config: unbounded, db });
  await seedProjects(served.deps);
  await registerWorkflow(served.admin);
});
afterAll(async () => {
  await served.stop();
  await servedBefore.stop();
  await database.stop();
});

const running = (nodeId: string, subWorkflow: string) => ({
  id: nodeId,
  metadata: { name: nodeId },
  target: {
    case: "workflowNode" as const,
    value: { reference: { case: "subWorkflowRef" as const, value: id(ResourceType.WORKFLOW, subWorkflow) } },
  },
});
const task = {
  id: "n0",
  metadata: { name: "n0" },
  target: { case: "taskNode" as const, value: { reference: { case: "referenceId" as const, value: id(ResourceType.TASK, "t") } } },
};
const graph = (name: string, nodes: (typeof task | ReturnType<typeof running>)[]) => ({
  id: id(ResourceType.WORKFLOW, name),
  metadata: {},
  metadataDefaults: {},
  interface: { inputs: {}, outputs: {} },
  nodes,
});

/** Builds `levels` sub-workflows, each of which runs the next one `times`. */
function nested(name: string, levels: number, times: number) {
  const below = (level: number) => `${name}.${level}`;
  const nodes = (level: number) =>
    level === levels ? [task] : Array.from({ length: times }, (_, i) => running(`n${i}`, below(level + 1)));
  return {
    id: id(ResourceType.WORKFLOW, name),
    spec: {
      template: graph(name, [running("n0", below(1))]),
      subWorkflows: Array.from({ length: levels }, (_, i) => graph(below(i + 1), nodes(i + 1))),
    },
  };
}

const TOO_MANY = /node instances when its sub-workflows are expanded, the limit is 200000/;

describe("registration", () => {
  test("refuses 40 sub-workflows that each run the next one twice, with the limit and the count", async () => {
    const refused = served.admin.createWorkflow(nested("bomb", 40, 2));
    await expect(refused).rejects.toMatchObject({
      code: Code.INVALID_ARGUMENT,
      message: expect.stringMatching(/workflow \[bomb\] comes to \d+ node instances/),
    });
    await expect(refused).rejects.toThrow(TOO_MANY);
  });

  test("refuses sub-workflows that are nested too deep", async () => {
    await expect(served.admin.createWorkflow(nested("deep", 100, 1))).rejects.toMatchObject({
      code: Code.INVALID_ARGUMENT,
      message: expect.stringContaining("workflow [deep] nests sub-workflows 101 deep, the limit is 100"),
    });
  });

  test("accepts a workflow at the limits", async () => {
    await expect(served.admin.createWorkflow(nested("atLimit", 99, 1))).resolves.toBeDefined();
    await expect(served.admin.createWorkflow(nested("wide", 8, 2))).resolves.toBeDefined();
  });
});

describe("launch", () => {
  const launch = (name: string) =>
    served.admin.createExecution({ ...scope, name, spec: { launchPlan: id(ResourceType.LAUNCH_PLAN, "old") }, inputs: {} });

  test.each([
    ["that exceeds a limit lowered since", async () => undefined],
    [
      "that was registered before nodes were counted",
      async () => {
        await db.query({ text: "UPDATE workflows SET expanded_instances = NULL, expanded_depth = NULL" });
        await served.stop();
        served = await serveAdmin({ config: bounded, db });
      },
    ],
  ])("is refused for a workflow %s", async (_, before) => {
    await servedBefore.admin.createWorkflow(nested("old", 40, 2)).catch(() => undefined);
    await servedBefore.admin
      .createLaunchPlan({
        id: id(ResourceType.LAUNCH_PLAN, "old"),
        spec: { workflowId: id(ResourceType.WORKFLOW, "old"), entityMetadata: {} },
      })
      .catch(() => undefined);
    await before();
    await expect(launch("hostile")).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT, message: expect.stringMatching(TOO_MANY) });
    const { rows } = await db.query({ text: "SELECT 1 FROM executions" });
    expect(rows).toEqual([]);
    const { rows: uncounted } = await db.query({ text: "SELECT 1 FROM workflows WHERE name = 'old' AND expanded_instances IS NULL" });
    expect(uncounted).toEqual([]);
  });
});
