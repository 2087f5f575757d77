import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { BlobStore } from "@flyte-ts/blobstore";
import { EventFailureReasonSchema } from "@flyte-ts/idl/flyteidl/admin/event_pb";
import { CatalogCacheStatus } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import {
  NodeExecution_Phase as Node,
  TaskExecution_Phase as Task,
  WorkflowExecution_Phase as Workflow,
} from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type {
  NodeExecutionEventSchema,
  TaskExecutionEventSchema,
  WorkflowExecutionEventSchema,
} from "@flyte-ts/idl/flyteidl/event/event_pb";
import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import type { Bus } from "@flyte-ts/messaging";
import type { Database } from "@flyte-ts/postgres";
import { Code, type RpcError, type ServiceClient } from "@flyte-ts/rpc";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { bareExecution } from "../../executions/execution/bare-execution.fixture.js";
import { insertExecution } from "../../executions/store/execution/insert.js";
import { integer } from "../../executions/execution/registered-workflow.fixture.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";

// Messages as FlytePropeller 1.16 writes them: version 1 of the events of nodes and tasks, its own
// name as producer, both times, URIs unless it is configured to send values.

const objects = new Map<string, Uint8Array>();
const blobs = {
  put: async (uri: string, bytes: Uint8Array) => void objects.set(uri, bytes),
  get: async (uri: string) => objects.get(uri),
} as unknown as BlobStore;
let database: AdminDatabase;
let db: Database;
let served: ServedAdmin;
let admin: ServiceClient<typeof AdminService>;
let name: string;
let count = 0;
let clock = 0;

beforeAll(async () => {
  database = await adminDatabase();
  db = database.db;
  served = await serveAdmin({ db, blobs, bus: { publishEphemeral: () => undefined } as unknown as Bus });
  admin = served.admin;
});
afterAll(async () => {
  await served.stop();
  await database.stop();
});
beforeEach(async () => {
  name = `go${count++}`;
  objects.clear();
  await insertExecution(db, bareExecution(name));
});

const executionId = () => ({ project: "p", domain: "d", name });
const nodeId = (node: string) => ({ nodeId: node, executionId: executionId() });
const taskId = { resourceType: ResourceType.TASK, project: "p", domain: "d", name: "t", version: "v" };
const eventTime = () => ({
  occurredAt: timestampFromMs(1_700_000_000_000 + ++clock),
  reportedAt: timestampFromMs(1_700_000_000_500 + clock),
  producerId: "propeller",
  eventVersion: 1,
});
const at = (path: string) => `s3://b/metadata/propeller/p-d-${name}/${path}`;

const workflow = (phase: Workflow, more: Omit<MessageInitShape<typeof WorkflowExecutionEventSchema>, "$typeName"> = {}) => {
  const { occurredAt, producerId } = eventTime();
  return admin.createWorkflowEvent({ event: { executionId: executionId(), phase, occurredAt, producerId, ...more } });
};
const node = (id: string, phase: Node, more: Omit<MessageInitShape<typeof NodeExecutionEventSchema>, "$typeName"> = {}) =>
  admin.createNodeEvent({
    event: {
      id: nodeId(id),
      phase,
      specNodeId: id,
      nodeName: id,
      inputValue: { case: "inputUri", value: at(`${id}/data/inputs.pb`) },
      ...eventTime(),
      ...more,
    },
  });
const task = (id: string, phase: Task, more: Omit<MessageInitShape<typeof TaskExecutionEventSchema>, "$typeName"> = {}) =>
  admin.createTaskEvent({
    event: {
      taskId,
      parentNodeExecutionId: nodeId(id),
      phase,
      taskType: "python-task",
      inputValue: { case: "inputUri", value: at(`${id}/data/inputs.pb`) },
      metadata: { generatedName: `${name}-${id}-0`, pluginIdentifier: "container" },
      ...eventTime(),
      ...more,
    },
  });
const output = (id: string) => ({ outputResult: { case: "outputUri" as const, value: at(`${id}/data/0/outputs.pb`) } });
const within = (parent: string, specNodeId: string, group = "0") => ({
  parentNodeMetadata: { nodeId: parent },
  retryGroup: group,
  specNodeId,
});

const startNode = () =>
  admin.createNodeEvent({
    event: { id: nodeId("start-node"), phase: Node.SUCCEEDED, specNodeId: "start-node", ...eventTime(), ...output("start-node") },
  });
const list = async (uniqueParentId = "") => {
  const sortBy = { key: "node_id", direction: 1 };
  const { nodeExecutions } = await admin.listNodeExecutions({ workflowExecutionId: executionId(), limit: 100, uniqueParentId, sortBy });
  return nodeExecutions.map(({ id, closure, metadata }) => `${id?.nodeId} ${Node[closure?.phase ?? 0]} ${metadata?.specNodeId}`);
};

test("the events of a whole run give every row and timestamp", async () => {
  await workflow(Workflow.RUNNING);
  await startNode();
  await node("n0", Node.QUEUED);
  await task("n0", Task.QUEUED, { reasons: [{ reason: "task submitted to K8s" }], reason: "task submitted to K8s" });
  await node("n0", Node.RUNNING);
  await task("n0", Task.RUNNING, { phaseVersion: 1, logs: [{ uri: "http://l", name: "log" }] });
  await task("n0", Task.SUCCEEDED, output("n0"));
  await node("n0", Node.SUCCEEDED, {
    ...output("n0"),
    deckUri: at("n0/data/0/deck.html"),
    targetMetadata: {
      case: "taskNodeMetadata",
      value: { checkpointUri: "s3://raw/c", cacheStatus: CatalogCacheStatus.CACHE_POPULATED, catalogKey: { datasetId: { name: "x" } } },
    },
  });
  await node("end-node", Node.SUCCEEDED);
  await workflow(Workflow.SUCCEEDING);
  await workflow(Workflow.SUCCEEDED, output("end-node"));
  const { closure } = await admin.getExecution({ id: executionId() });
  expect(closure).toMatchObject({
    phase: Workflow.SUCCEEDED,
    outputResult: { case: "outputs", value: { data: { value: at("end-node/data/0/outputs.pb") } } },
  });
  expect(await list()).toEqual(["end-node SUCCEEDED end-node", "n0 SUCCEEDED n0", "start-node SUCCEEDED start-node"]);
  expect((await admin.getNodeExecution({ id: nodeId("start-node") })).inputUri).toBe("");
  expect(await admin.getNodeExecution({ id: nodeId("n0") })).toMatchObject({
    inputUri: at("n0/data/inputs.pb"),
    closure: {
      deckUri: at("n0/data/0/deck.html"),
      outputResult: { value: at("n0/data/0/outputs.pb") },
      targetMetadata: { value: { checkpointUri: "s3://raw/c", cacheStatus: CatalogCacheStatus.CACHE_POPULATED } },
    },
  });
  const { taskExecutions } = await admin.listTaskExecutions({ nodeExecutionId: nodeId("n0"), limit: 9 });
  expect(taskExecutions).toMatchObject([
    {
      closure: {
        phase: Task.SUCCEEDED,
        eventVersion: 1,
        taskType: "python-task",
        reason: "task submitted to K8s",
        logs: [{ uri: "http://l" }],
      },
    },
  ]);
});

test("repeated and late events are answered with the errors that Go propeller expects", async () => {
  await workflow(Workflow.RUNNING);
  await node("n0", Node.RUNNING);
  await task("n0", Task.RUNNING);
  for (const again of [() => workflow(Workflow.RUNNING), () => node("n0", Node.RUNNING), () => task("n0", Task.RUNNING)]) {
    await expect(again()).rejects.toMatchObject({ code: Code.ALREADY_EXISTS });
  }
  await task("n0", Task.ABORTED);
  await node("n0", Node.ABORTED);
  await workflow(Workflow.ABORTED);
  for (const [late, phase] of [
    [() => workflow(Workflow.FAILED), "ABORTED"],
    [() => node("n0", Node.FAILED), "FAILED"],
    [() => task("n0", Task.RUNNING, { phaseVersion: 9 }), "RUNNING"],
  ] as const) {
    const error = (await late().catch((refused: unknown) => refused)) as RpcError;
    expect(error.code).toBe(Code.FAILED_PRECONDITION);
    expect(error.findDetails(EventFailureReasonSchema).map(({ reason }) => reason)).toMatchObject([
      { case: "alreadyInTerminalState", value: { currentPhase: phase } },
    ]);
  }
});

test("events of a cluster other than the execution's are refused with the cluster", async () => {
  const error = (await workflow(Workflow.RUNNING, { producerId: "elsewhere" }).catch((refused: unknown) => refused)) as RpcError;
  expect(error.code).toBe(Code.FAILED_PRECONDITION);
  expect(error.findDetails(EventFailureReasonSchema).map(({ reason }) => reason.case)).toEqual(["incompatibleCluster"]);
});

test("events for missing parents name them as missing", async () => {
  name = "nobody";
  for (const eventOf of [() => workflow(Workflow.RUNNING), () => node("n0", Node.QUEUED), () => task("n0", Task.QUEUED)]) {
    await expect(eventOf()).rejects.toMatchObject({ code: Code.NOT_FOUND });
  }
});

describe("nodes within nodes", () => {
  test("a sub-workflow is recorded with the attempts of its nodes", async () => {
    await node("n1", Node.RUNNING, { isParent: true });
    await node("n1-0-start-node", Node.SUCCEEDED, within("n1", "start-node"));
    await node("n1-0-n0", Node.RUNNING, within("n1", "n0"));
    await task("n1-0-n0", Task.FAILED, { outputResult: { case: "error", value: { code: "C", message: "m" } } });
    // A failed attempt with a retry leaves its node running.
    await expect(node("n1-0-n0", Node.RUNNING, within("n1", "n0"))).rejects.toMatchObject({ code: Code.ALREADY_EXISTS });
    await task("n1-0-n0", Task.SUCCEEDED, { retryAttempt: 1 });
    await node("n1-0-n0", Node.SUCCEEDED, within("n1", "n0"));
    expect(await list()).toEqual(["n1 RUNNING n1"]);
    expect(await list("n1")).toEqual(["n1-0-n0 SUCCEEDED n0", "n1-0-start-node SUCCEEDED start-node"]);
    const { taskExecutions } = await admin.listTaskExecutions({ nodeExecutionId: nodeId("n1-0-n0"), limit: 9 });
    expect(taskExecutions.map(({ id, closure }) => `${id?.retryAttempt} ${Task[closure?.phase ?? 0]}`).toSorted()).toEqual([
      "0 FAILED",
      "1 SUCCEEDED",
    ]);
  });

  test.each([
    ["small", 10],
    ["large", 5_000],
  ])("a dynamic node keeps the %s graph that was reported once", async (_, nodes) => {
    const id = { resourceType: ResourceType.WORKFLOW, project: "p", domain: "d", name: "dyn", version: "v" };
    const template = { id, nodes: Array.from({ length: nodes }, (__, i) => ({ id: `${"node".repeat(20)}-${i}` })) };
    const compiledWorkflow = create(CompiledWorkflowClosureSchema, { primary: { template } });
    const value = { dynamicWorkflow: { id, compiledWorkflow, dynamicJobSpecUri: at("n0/data/0/futures.pb") } };
    await node("n0", Node.RUNNING);
    await node("n0", Node.DYNAMIC_RUNNING, { isDynamic: true, isParent: true, targetMetadata: { case: "taskNodeMetadata", value } });
    await node("n0-0-dn0", Node.SUCCEEDED, within("n0", "dn0"));
    await node("n0", Node.SUCCEEDED, { isDynamic: true, ...output("n0") });
    expect(objects.size).toBe(nodes > 1_000 ? 1 : 0);
    expect((await admin.getDynamicNodeWorkflow({ id: nodeId("n0") })).compiledWorkflow).toEqual(compiledWorkflow);
    const { dynamicWorkflow } = await admin.getNodeExecutionData({ id: nodeId("n0") });
    expect(dynamicWorkflow).toMatchObject({ id, dynamicJobSpecUri: at("n0/data/0/futures.pb"), compiledWorkflow });
    expect(await admin.getNodeExecution({ id: nodeId("n0") })).toMatchObject({
      metadata: { isDynamic: true, isParentNode: true },
      closure: { dynamicJobSpecUri: at("n0/data/0/futures.pb") },
    });
  });

  test("a dynamic node stays dynamic when an engine that no longer knows it reports its end", async () => {
    const value = { dynamicWorkflow: { dynamicJobSpecUri: at("n0/data/0/futures.pb") } };
    await node("n0", Node.RUNNING);
    await node("n0", Node.DYNAMIC_RUNNING, { isDynamic: true, isParent: true, targetMetadata: { case: "taskNodeMetadata", value } });
    const plain = { case: "taskNodeMetadata" as const, value: { checkpointUri: "s3://raw/c" } };
    await node("n0", Node.SUCCEEDED, { ...output("n0"), targetMetadata: plain });
    expect(await admin.getNodeExecution({ id: nodeId("n0") })).toMatchObject({
      metadata: { isDynamic: true, isParentNode: true },
      closure: {
        phase: Node.SUCCEEDED,
        dynamicJobSpecUri: at("n0/data/0/futures.pb"),
        targetMetadata: { case: "taskNodeMetadata", value: { checkpointUri: "" } },
      },
    });
  });

  test("a dynamic node whose graph object is missing is recorded without the graph", async () => {
    const nodes = Array.from({ length: 5_000 }, (__, i) => ({ id: `${"node".repeat(20)}-${i}` }));
    const compiledWorkflow = create(CompiledWorkflowClosureSchema, { primary: { template: { nodes } } });
    await node("n0", Node.RUNNING, { targetMetadata: { case: "taskNodeMetadata", value: { dynamicWorkflow: { compiledWorkflow } } } });
    objects.clear();
    await expect(admin.getDynamicNodeWorkflow({ id: nodeId("n0") })).rejects.toMatchObject({ code: Code.NOT_FOUND });
    expect((await admin.getNodeExecutionData({ id: nodeId("n0") })).dynamicWorkflow).toBeUndefined();
  });

  test("nodes within a task are recorded as old engines report them", async () => {
    await node("n0", Node.RUNNING, { eventVersion: 0 });
    await task("n0", Task.RUNNING);
    const id = { taskId, nodeExecutionId: nodeId("n0"), retryAttempt: 0 };
    await node("n0-child", Node.RUNNING, { eventVersion: 0, specNodeId: "", parentTaskMetadata: { id } });
    const { nodeExecutions } = await admin.listNodeExecutionsForTask({ taskExecutionId: id, limit: 9 });
    expect(nodeExecutions.map(({ id: found }) => found?.nodeId)).toEqual(["n0-child"]);
    expect((await admin.getTaskExecution({ id })).isParent).toBe(true);
  });

  test("a launch plan node shows the launched execution from its first report on", async () => {
    const child = { project: "p", domain: "d", name: `${name}c` };
    await insertExecution(db, bareExecution(child.name));
    await node("n0", Node.QUEUED);
    await node("n0", Node.RUNNING, { targetMetadata: { case: "workflowNodeMetadata", value: { executionId: child } } });
    await node("n0", Node.SUCCEEDED, output("n0"));
    const { closure } = await admin.getNodeExecution({ id: nodeId("n0") });
    expect(closure?.targetMetadata).toMatchObject({ case: "workflowNodeMetadata", value: { executionId: child } });
  });

  test("an array node reports its items with its task, some at a time and all at the end", async () => {
    const item = (index: number, phase: Task, retryAttempt = 0) => ({
      externalId: `${name}-n0-0-n${index}-${retryAttempt}`,
      index,
      phase,
      retryAttempt,
    });
    await node("n0", Node.RUNNING, { isArray: true });
    await task("n0", Task.RUNNING, { phaseVersion: 0, metadata: { externalResources: [item(0, Task.RUNNING), item(1, Task.RUNNING)] } });
    await task("n0", Task.RUNNING, { phaseVersion: 1, metadata: { externalResources: [item(1, Task.FAILED), item(1, Task.RUNNING, 1)] } });
    await expect(task("n0", Task.RUNNING, { phaseVersion: 1 })).rejects.toMatchObject({ code: Code.ALREADY_EXISTS });
    await task("n0", Task.SUCCEEDED, { metadata: { externalResources: [item(0, Task.SUCCEEDED), item(1, Task.SUCCEEDED, 1)] } });
    const { taskExecutions } = await admin.listTaskExecutions({ nodeExecutionId: nodeId("n0"), limit: 9 });
    const resources = taskExecutions[0]?.closure?.metadata?.externalResources ?? [];
    expect(resources.map(({ index, retryAttempt, phase }) => `${index}.${retryAttempt} ${Task[phase]}`)).toEqual([
      "0.0 SUCCEEDED",
      "1.0 FAILED",
      "1.1 SUCCEEDED",
    ]);
    expect((await admin.getNodeExecution({ id: nodeId("n0") })).metadata?.isArray).toBe(true);
  });
});

test("values inside events are stored and served", async () => {
  const values = { literals: { x: integer(3n) } };
  const inline = { inputValue: { case: "inputData" as const, value: values } };
  await node("n0", Node.RUNNING, inline);
  await task("n0", Task.RUNNING, inline);
  await task("n0", Task.SUCCEEDED, { ...inline, outputResult: { case: "outputData", value: values } });
  await node("n0", Node.SUCCEEDED, { ...inline, outputResult: { case: "outputData", value: values } });
  await workflow(Workflow.SUCCEEDED, { outputResult: { case: "outputData", value: values } });
  const id = nodeId("n0");
  expect(await admin.getNodeExecutionData({ id })).toMatchObject({ fullInputs: values, fullOutputs: values });
  expect(await admin.getTaskExecutionData({ id: { taskId, nodeExecutionId: id } })).toMatchObject({
    fullInputs: values,
    fullOutputs: values,
  });
  expect(await admin.getExecutionData({ id: executionId() })).toMatchObject({ fullOutputs: values });
});
