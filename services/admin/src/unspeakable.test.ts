import { MatchableResource } from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Bus } from "@flyte-ts/messaging";
import { Code } from "@flyte-ts/rpc";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AdminDatabase, adminDatabase } from "./database.fixture.js";
import { id, integer, registerLaunchPlan, registerWorkflow, scope } from "./executions/execution/registered-workflow.fixture.js";
import { type ServedAdmin, serveAdmin } from "./served-admin.fixture.js";

let database: AdminDatabase;
let served: ServedAdmin;
beforeAll(async () => {
  database = await adminDatabase();
  served = await serveAdmin({ db: database.db, bus: { publishEphemeral: () => undefined } as unknown as Bus });
  await registerWorkflow(served.admin);
  await registerLaunchPlan(served.admin, "l");
});
afterAll(async () => {
  await served.stop();
  await database.stop();
});

/** Values that messages can contain and JSON cannot. */
const extant = { memory: Number.NaN };
const assignments = [
  { nodeIds: ["n0"], taskType: "t", executionEnv: { name: "e", environment: { case: "extant" as const, value: extant } } },
];

test("attributes and executions with numbers in free-form data that are not representable in JSON are accepted", async () => {
  const matchingAttributes = {
    target: { case: "workflowExecutionConfig" as const, value: { maxParallelism: 1, executionEnvAssignments: assignments } },
  };
  await served.admin.updateProjectDomainAttributes({ attributes: { ...scope, matchingAttributes } });
  const { attributes } = await served.admin.getProjectDomainAttributes({
    ...scope,
    resourceType: MatchableResource.WORKFLOW_EXECUTION_CONFIG,
  });
  expect(attributes?.matchingAttributes?.target).toMatchObject({ value: { executionEnvAssignments: assignments } });
  const execution = { ...scope, name: "odd" };
  await served.admin.createExecution({
    ...execution,
    spec: { launchPlan: id(ResourceType.LAUNCH_PLAN, "l"), executionEnvAssignments: assignments },
    inputs: { literals: { x: integer(1n) } },
  });
  expect((await served.admin.getExecution({ id: execution })).id).toMatchObject(execution);
});

test("a task that differs in an invalid duration is reported as different", async () => {
  const register = (nanos: number) =>
    served.admin.createTask({
      id: id(ResourceType.TASK, "slow"),
      spec: {
        template: {
          type: "python-task",
          metadata: { timeout: { seconds: 9_223_372_036_854_775_807n, nanos } },
          interface: { inputs: {}, outputs: {} },
          target: { case: "container", value: { image: "i", args: ["a"] } },
        },
      },
    });
  await register(1);
  await expect(register(1)).rejects.toMatchObject({ code: Code.ALREADY_EXISTS });
  await expect(register(2)).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
});
