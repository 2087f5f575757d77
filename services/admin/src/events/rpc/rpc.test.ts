import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromMs, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { EventFailureReasonSchema } from "@flyte-ts/idl/flyteidl/admin/event_pb";
import {
  NodeExecution_Phase as Node,
  TaskExecution_Phase as Task,
  WorkflowExecution_Phase as Workflow,
} from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import type { NodeExecutionEventSchema, TaskExecutionEventSchema } from "@flyte-ts/idl/flyteidl/event/event_pb";
import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { DataProxyService } from "@flyte-ts/idl/flyteidl/service/dataproxy_pb";
import { SignalService } from "@flyte-ts/idl/flyteidl/service/signal_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { Bus } from "@flyte-ts/messaging";
import type { Database } from "@flyte-ts/postgres";
import { type Channel, Code, createClient, type RpcError, type ServiceClient } from "@flyte-ts/rpc";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { bareExecution } from "../../executions/execution/bare-execution.fixture.js";
import { insertExecution } from "../../executions/store/execution/insert.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";

const bus = { publishEphemeral: () => undefined } as unknown as Bus;
let database: AdminDatabase;
let db: Database;
let served: ServedAdmin;
let channel: Channel;
let admin: ServiceClient<typeof AdminService>;
let data: ServiceClient<typeof DataProxyService>;
let signals: ServiceClient<typeof SignalService>;
let name: string;
let count = 0;

beforeAll(async () => {
  database = await adminDatabase();
  db = database.db;
  served = await serveAdmin({ db, bus });
  ({ admin, channel } = served);
  data = createClient({ channel, service: DataProxyService });
  signals = createClient({ channel, service: SignalService });
});
afterAll(async () => {
  await served.stop();
  await database.stop();
});
beforeEach(async () => {
  name = `e${count++}`;
  await insertExecution(db, bareExecution(name));
});

const executionId = () => ({ project: "p", domain: "d", name });
const nodeId = (id = "n0") => ({ nodeId: id, executionId: executionId() });
const taskId = { resourceType: ResourceType.TASK, project: "p", domain: "d", name: "t", version: "v" };
const at = timestampFromMs(1_700_000_000_000);
const values = create(LiteralMapSchema, {
  literals: { o: { value: { case: "scalar", value: { value: { case: "noneType", value: {} } } } } },
});

const node = (phase: Node, more: MessageInitShape<typeof NodeExecutionEventSchema> = {}) =>
  admin.createNodeEvent({ event: { id: nodeId(), phase, occurredAt: at, ...more } as MessageInitShape<typeof NodeExecutionEventSchema> });
const task = (phase: Task, more: MessageInitShape<typeof TaskExecutionEventSchema> = {}) =>
  admin.createTaskEvent({
    event: { taskId, parentNodeExecutionId: nodeId(), phase, occurredAt: at, ...more } as MessageInitShape<typeof TaskExecutionEventSchema>,
  });

/** Returns the codes of failed calls, in order. */
const codes = async (calls: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(calls)).flatMap((call) => (call.status === "rejected" ? [(call.reason as RpcError).code] : []));

test("one of many concurrent reports of a phase is recorded, and the others get ALREADY_EXISTS", async () => {
  const calls = Array.from({ length: 12 }, () => node(Node.RUNNING));
  expect(await codes(calls)).toEqual(Array.from({ length: 11 }, () => Code.ALREADY_EXISTS));
  await task(Task.QUEUED);
  const updates = Array.from({ length: 12 }, (_, phaseVersion) => task(Task.RUNNING, { phaseVersion, reason: `r${phaseVersion}` }));
  const refused = await codes(updates);
  const { closure } = await admin.getTaskExecution({ id: { taskId, nodeExecutionId: nodeId(), retryAttempt: 0 } });
  expect(closure?.reasons).toHaveLength(12 - refused.length);
  expect(refused.every((code) => code === Code.ALREADY_EXISTS)).toBe(true);
});

test("a terminal phase is kept, and the caller gets it in the error", async () => {
  const report = (phase: Workflow) => admin.createWorkflowEvent({ event: { executionId: executionId(), phase, occurredAt: at } });
  await report(Workflow.SUCCEEDED);
  const error = await report(Workflow.FAILED).then(
    () => undefined,
    (reason: unknown) => reason as RpcError,
  );
  expect(error?.code).toBe(Code.FAILED_PRECONDITION);
  expect(error?.findDetails(EventFailureReasonSchema)).toMatchObject([
    { reason: { case: "alreadyInTerminalState", value: { currentPhase: "SUCCEEDED" } } },
  ]);
});

test("timestamps out of the database's range are recorded as the nearest valid ones", async () => {
  const [first, last] = [-62_135_596_800n, 253_402_300_799n].map((seconds) => create(TimestampSchema, { seconds })) as [
    Timestamp,
    Timestamp,
  ];
  const report = (phase: Workflow, occurredAt: Timestamp) =>
    admin.createWorkflowEvent({ event: { executionId: executionId(), phase, occurredAt } });
  await report(Workflow.RUNNING, first);
  await node(Node.RUNNING, { occurredAt: first, reportedAt: first });
  await task(Task.RUNNING, { occurredAt: first, reportedAt: first });
  await task(Task.SUCCEEDED, { occurredAt: last, reportedAt: last });
  await node(Node.SUCCEEDED, { occurredAt: last, reportedAt: last });
  await report(Workflow.SUCCEEDED, last);
  // The range of 63 bits, from the epoch on.
  const end = { seconds: 9_223_372_036n, nanos: 854_775_807 };
  const nearest = { startedAt: { seconds: 0n, nanos: 0 }, updatedAt: end, duration: end };
  // An execution starts no earlier than its creation.
  const { closure } = await admin.getExecution({ id: executionId() });
  expect(closure).toMatchObject({ updatedAt: end, startedAt: { seconds: 0n, nanos: 1 }, createdAt: { seconds: 0n, nanos: 1 } });
  expect((await admin.getNodeExecution({ id: nodeId() })).closure).toMatchObject(nearest);
  expect((await admin.getTaskExecution({ id: { taskId, nodeExecutionId: nodeId() } })).closure).toMatchObject(nearest);
  expect(await codes([node(Node.RUNNING, { id: nodeId("n1"), occurredAt: create(TimestampSchema, { nanos: -1 }) })])).toEqual([
    Code.INVALID_ARGUMENT,
  ]);
});

test("events for missing entities are refused", async () => {
  expect(await codes([task(Task.RUNNING), node(Node.RUNNING, { parentNodeMetadata: { nodeId: "nobody" } })])).toEqual([
    Code.NOT_FOUND,
    Code.NOT_FOUND,
  ]);
  name = "nobody";
  expect(await codes([node(Node.RUNNING), task(Task.RUNNING)])).toEqual([Code.NOT_FOUND, Code.NOT_FOUND]);
});

test("the execution that a node reports as launched must exist", async () => {
  const launched = (child: string) =>
    node(Node.RUNNING, { targetMetadata: { case: "workflowNodeMetadata", value: { executionId: { ...executionId(), name: child } } } });
  await node(Node.QUEUED);
  expect(await codes([launched("absent")])).toEqual([Code.NOT_FOUND]);
  expect((await admin.getNodeExecution({ id: nodeId() })).closure?.phase).toBe(Node.QUEUED);
  await launched(name);
  expect((await admin.getNodeExecution({ id: nodeId() })).closure?.targetMetadata.case).toBe("workflowNodeMetadata");
});

test("a QUEUED event names the execution's cluster, and events of other clusters are refused from then on", async () => {
  const report = (phase: Workflow, producerId: string) =>
    admin.createWorkflowEvent({ event: { executionId: executionId(), phase, occurredAt: at, producerId } });
  expect(await codes([report(Workflow.RUNNING, "east")])).toEqual([Code.FAILED_PRECONDITION]);
  await report(Workflow.QUEUED, "east");
  expect(await codes([report(Workflow.QUEUED, "west")])).toEqual([Code.FAILED_PRECONDITION]);
  expect(await codes([report(Workflow.RUNNING, "west"), node(Node.RUNNING, { producerId: "west" })])).toEqual([
    Code.FAILED_PRECONDITION,
    Code.FAILED_PRECONDITION,
  ]);
  await report(Workflow.RUNNING, "east");
  const { rows } = await db.query<{ cluster: string }>({
    text: "SELECT cluster FROM executions WHERE execution_project = 'p' AND execution_domain = 'd' AND execution_name = $1",
    values: [name],
  });
  expect(rows).toEqual([{ cluster: "east" }]);
});

test("the entity of an attempt is a task; read requests may omit the resource type", async () => {
  await node(Node.RUNNING);
  const unspecified = { ...taskId, resourceType: ResourceType.UNSPECIFIED };
  expect(await codes([task(Task.RUNNING, { taskId: unspecified })])).toEqual([Code.INVALID_ARGUMENT]);
  await task(Task.RUNNING);
  const { id } = await admin.getTaskExecution({ id: { taskId: unspecified, nodeExecutionId: nodeId() } });
  expect(id?.taskId?.resourceType).toBe(ResourceType.TASK);
});

test("an organization in a request is not part of the response", async () => {
  await node(Node.RUNNING);
  await task(Task.RUNNING);
  const nodeRequest = { nodeId: "n0", executionId: { ...executionId(), org: "o" } };
  expect((await admin.getNodeExecution({ id: nodeRequest })).id?.executionId?.org).toBe("");
  const { taskExecutions } = await admin.listTaskExecutions({ nodeExecutionId: nodeRequest, limit: 1 });
  expect(taskExecutions.map(({ id }) => id?.nodeExecutionId?.executionId?.org)).toEqual([""]);
});

test("values inside events are stored and served by flyte:// URLs", async () => {
  await node(Node.RUNNING, { inputValue: { case: "inputData", value: values } });
  await node(Node.SUCCEEDED, { outputResult: { case: "outputData", value: values } });
  const found = await admin.getNodeExecutionData({ id: nodeId() });
  expect([found.fullInputs, found.fullOutputs]).toEqual([values, values]);
  expect((await data.getData({ flyteUrl: found.flyteUrls?.outputs ?? "" })).data).toEqual({ case: "literalMap", value: values });
  expect((await data.getData({ flyteUrl: `${found.flyteUrls?.inputs}/o` })).data).toEqual({ case: "literal", value: values.literals["o"] });
  const { closure, inputUri } = await admin.getNodeExecution({ id: nodeId() });
  expect(inputUri).toBe(`s3://my-s3-bucket/metadata/p/d/${name}/n0/offloaded_inputs`);
  expect(closure?.outputResult.value).toBe(`s3://my-s3-bucket/metadata/p/d/${name}/n0/offloaded_outputs`);
});

test("the first reported inputs of a node are kept", async () => {
  await node(Node.QUEUED, { inputValue: { case: "inputData", value: values } });
  await node(Node.RUNNING, { inputValue: { case: "inputData", value: create(LiteralMapSchema) } });
  expect((await admin.getNodeExecutionData({ id: nodeId() })).fullInputs).toEqual(values);
});

test("children are listed under their node, and long errors are shortened only in lists", async () => {
  await node(Node.RUNNING, { isParent: true });
  const message = "é".repeat(200);
  await node(Node.FAILED, {
    id: nodeId("n0-0-s"),
    parentNodeMetadata: { nodeId: "n0" },
    outputResult: { case: "error", value: { message } },
  });
  const list = (uniqueParentId: string) => admin.listNodeExecutions({ workflowExecutionId: executionId(), uniqueParentId, limit: 10 });
  expect((await list("")).nodeExecutions.map(({ id }) => id?.nodeId)).toEqual(["n0"]);
  const [child] = (await list("n0")).nodeExecutions;
  expect(child?.closure?.outputResult.value).toMatchObject({ message: "é".repeat(50) });
  expect((await admin.getNodeExecution({ id: nodeId("n0-0-s") })).closure?.outputResult.value).toMatchObject({ message });
});

test("a signal has one type, and its value must have that type", async () => {
  const id = { signalId: "s", executionId: executionId() };
  const type = (simple: SimpleType) => ({ type: { case: "simple" as const, value: simple } });
  const integer = (value: bigint) => ({
    value: {
      case: "scalar" as const,
      value: { value: { case: "primitive" as const, value: { value: { case: "integer" as const, value } } } },
    },
  });
  expect(await codes([signals.setSignal({ id, value: integer(1n) })])).toEqual([Code.INVALID_ARGUMENT]);
  const made = await Promise.all(Array.from({ length: 5 }, () => signals.getOrCreateSignal({ id, type: type(SimpleType.INTEGER) })));
  expect(made.every(({ value }) => value === undefined)).toBe(true);
  expect(await codes([signals.getOrCreateSignal({ id, type: type(SimpleType.STRING) })])).toEqual([Code.ALREADY_EXISTS]);
  await signals.setSignal({ id, value: integer(1n) });
  await signals.setSignal({ id, value: integer(2n) });
  expect((await signals.listSignals({ workflowExecutionId: executionId(), limit: 10 })).signals).toMatchObject([{ value: integer(2n) }]);
});
