import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import {
  NodeExecution_Phase as Node,
  TaskExecution_Phase as Task,
  WorkflowExecution_Phase as Workflow,
} from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Span } from "@flyte-ts/idl/flyteidl/core/metrics_pb";
import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import type { Bus } from "@flyte-ts/messaging";
import { Code, type ServiceClient } from "@flyte-ts/rpc";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { id, integer, registerLaunchPlan, registerWorkflow, scope } from "../execution/registered-workflow.fixture.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";

let database: AdminDatabase;
let served: ServedAdmin;
let admin: ServiceClient<typeof AdminService>;

beforeAll(async () => {
  database = await adminDatabase();
  served = await serveAdmin({ db: database.db, bus: { publishEphemeral: () => undefined } as unknown as Bus });
  admin = served.admin;
  await registerWorkflow(admin);
  await registerLaunchPlan(admin, "l");
});
afterAll(async () => {
  await served.stop();
  await database.stop();
});

const key = (name: string) => ({ ...scope, name });
const launch = (name: string) =>
  admin.createExecution({
    ...key(name),
    spec: { launchPlan: id(ResourceType.LAUNCH_PLAN, "l") },
    inputs: { literals: { x: integer(1n) } },
  });
let now = Date.now();
const at = () => timestampFromMs((now += 1_000));
const node = (execution: string, nodeId: string, phase: Node, more: object = {}) =>
  admin.createNodeEvent({
    event: { id: { nodeId, executionId: key(execution) }, specNodeId: nodeId, phase, occurredAt: at(), ...more },
  });
const task = (execution: string, phase: Task) =>
  admin.createTaskEvent({
    event: {
      taskId: id(ResourceType.TASK, "t"),
      parentNodeExecutionId: { nodeId: "n0", executionId: key(execution) },
      phase,
      occurredAt: at(),
    },
  });
const names = (span: Span | undefined): unknown[] =>
  (span?.spans ?? []).map((inner) => {
    const name = inner.id.case === "operationId" ? inner.id.value : inner.id.case;
    return inner.spans.length === 0 ? name : [name, ...names(inner)];
  });

test("rows of an execution, its parts and its child executions become spans", async () => {
  await launch("child");
  await launch("parent");
  await node("parent", "start-node", Node.SUCCEEDED);
  await node("parent", "n0", Node.RUNNING);
  await task("parent", Task.RUNNING);
  await task("parent", Task.SUCCEEDED);
  const compiledWorkflow = create(CompiledWorkflowClosureSchema, {
    primary: {
      template: {
        nodes: [
          {
            id: "c",
            target: { case: "workflowNode", value: { reference: { case: "launchplanRef", value: id(ResourceType.LAUNCH_PLAN, "l") } } },
          },
        ],
      },
      connections: { upstream: { c: { ids: ["start-node"] }, "end-node": { ids: ["c"] } } },
    },
  });
  await node("parent", "n0", Node.DYNAMIC_RUNNING, {
    isDynamic: true,
    targetMetadata: { case: "taskNodeMetadata", value: { dynamicWorkflow: { compiledWorkflow } } },
  });
  const within = { parentNodeMetadata: { nodeId: "n0" }, retryGroup: "0" };
  await node("parent", "n0-0-start-node", Node.SUCCEEDED, { ...within, specNodeId: "start-node" });
  await node("parent", "n0-0-c", Node.RUNNING, {
    ...within,
    specNodeId: "c",
    targetMetadata: { case: "workflowNodeMetadata", value: { executionId: key("child") } },
  });
  await node("child", "start-node", Node.SUCCEEDED);
  await node("child", "n0", Node.SUCCEEDED);
  await admin.createWorkflowEvent({ event: { executionId: key("child"), phase: Workflow.SUCCEEDED, occurredAt: at() } });
  await node("parent", "n0-0-c", Node.SUCCEEDED, within);
  await node("parent", "n0", Node.SUCCEEDED);
  await admin.createWorkflowEvent({ event: { executionId: key("parent"), phase: Workflow.SUCCEEDED, occurredAt: at() } });
  const { span } = await admin.getExecutionMetrics({ id: key("parent"), depth: -1 });
  const child = ["workflowId", "WORKFLOW_SETUP", ["nodeId", "NODE_TRANSITION", "NODE_SETUP"], "WORKFLOW_TEARDOWN"];
  const attempt = ["taskId", "TASK_SETUP", "TASK_RUNTIME", "TASK_TEARDOWN"];
  const launched = ["nodeId", "NODE_TRANSITION", "NODE_SETUP", child, "NODE_TEARDOWN"];
  expect(names(span)).toEqual([
    "WORKFLOW_SETUP",
    ["nodeId", "NODE_TRANSITION", "NODE_SETUP", attempt, "NODE_RESET", launched, "NODE_TEARDOWN"],
    "WORKFLOW_TEARDOWN",
  ]);
  const shallow = await admin.getExecutionMetrics({ id: key("parent"), depth: 1 });
  expect(names(shallow.span)).toEqual(["WORKFLOW_SETUP", ["nodeId", "NODE_TRANSITION"], "WORKFLOW_TEARDOWN"]);
});

test("a missing execution is NOT_FOUND, and a missing child execution is shown as set-up", async () => {
  await expect(admin.getExecutionMetrics({ id: key("nobody"), depth: 1 })).rejects.toMatchObject({ code: Code.NOT_FOUND });
  await launch("lonely");
  await node("lonely", "start-node", Node.SUCCEEDED);
  await node("lonely", "n0", Node.RUNNING, { targetMetadata: { case: "workflowNodeMetadata", value: { executionId: key("gone") } } });
  const { span } = await admin.getExecutionMetrics({ id: key("lonely"), depth: -1 });
  expect(names(span)).toEqual(["WORKFLOW_SETUP", ["nodeId", "NODE_TRANSITION", "NODE_SETUP"]]);
});
