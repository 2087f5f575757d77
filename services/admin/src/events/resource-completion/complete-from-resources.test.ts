import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { BlobStore } from "@flyte-ts/blobstore";
import { literalMap, stringLiteral } from "@flyte-ts/domain/literal";
import { NodePhase, WorkflowPhase } from "@flyte-ts/domain/phase";
import { readNodeEvent, readTaskEvent, readWorkflowEvent } from "@flyte-ts/execution-state";
import { CatalogCacheStatus, CatalogMetadataSchema } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import {
  NodeExecution_Phase as Node,
  TaskExecution_Phase as Task,
  WorkflowExecution_Phase as Workflow,
} from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { NodeExecutionEventSchema, TaskExecutionEventSchema, WorkflowExecutionEventSchema } from "@flyte-ts/idl/flyteidl/event/event_pb";
import type { Bus } from "@flyte-ts/messaging";
import type { Database } from "@flyte-ts/postgres";
import { createLogger } from "@flyte-ts/telemetry";
import type { NodeStatus } from "@flyte-ts/workflow-crd/status";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { adminConfigSchema } from "../../config.js";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { offloadNames } from "../offload-names.js";
import { bareExecution, bareResourceIdentity } from "../../executions/execution/bare-execution.fixture.js";
import { insertExecution } from "../../executions/store/execution/insert.js";
import { ExecutionIds } from "../ingest/execution-ids.js";
import type { DecodedEvent } from "../decoded-event.js";
import { recordBatch } from "../ingest/record-batch.js";
import { MemoryKube } from "../../dispatch/launcher/memory-kube.fixture.js";
import { reconcileStale } from "../../dispatch/maintenance/reconcile.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";
import { completeFromResources } from "./complete-from-resources.js";

const config = adminConfigSchema.parse({});
const names = offloadNames(config);
const logger = createLogger({ service: "test", level: "silent" });
const bus = { publishEphemeral: () => undefined } as unknown as Bus;
const taskId = { resourceType: ResourceType.TASK, project: "p", domain: "d", name: "t", version: "v" };
const ids = new ExecutionIds(config.namespaceTemplate);
const nothing = { head: () => Promise.resolve(undefined) } as unknown as BlobStore;
let database: AdminDatabase;
let db: Database;
let served: ServedAdmin;
let kube: MemoryKube;
let name: string;
let count = 0;
let sequence = 0;

beforeAll(async () => {
  database = await adminDatabase();
  db = database.db;
  served = await serveAdmin({ config, db, bus });
});
afterAll(async () => {
  await served.stop();
  await database.stop();
});
beforeEach(async () => {
  name = `c${String(count++).padStart(4, "0")}`;
  kube = new MemoryKube();
  sequence = 0;
  await insertExecution(db, bareExecution(name));
});

const executionId = () => ({ project: "p", domain: "d", name });
const at = () => timestampFromMs(1_700_000_000_000 + ++sequence * 1_000);
const workflow = (phase: Workflow, endedNodes = 0): DecodedEvent => {
  const event = create(WorkflowExecutionEventSchema, { executionId: executionId(), phase, occurredAt: at() });
  return { kind: "workflow", execution: executionId(), fact: readWorkflowEvent(event, {}, names), order: BigInt(sequence), endedNodes };
};
const outputs = (text: string) => literalMap([["o", stringLiteral(text)]]);
const base64 = (text: string) => Buffer.from(toBinary(LiteralMapSchema, outputs(text))).toString("base64");
const node = (nodeId: string, phase: Node, { values, ...more }: Record<string, unknown> & { values?: string } = {}): DecodedEvent => {
  const event = create(NodeExecutionEventSchema, { id: { nodeId, executionId: executionId() }, phase, occurredAt: at(), ...more });
  const beside = values === undefined ? {} : { outputs: outputs(values) };
  return { kind: "node", execution: executionId(), nodeId, fact: readNodeEvent(event, beside, names), order: BigInt(sequence) };
};
const task = (nodeId: string, phase: Task, retryAttempt = 0): DecodedEvent => {
  const parentNodeExecutionId = { nodeId, executionId: executionId() };
  const event = create(TaskExecutionEventSchema, { taskId, parentNodeExecutionId, retryAttempt, phase, occurredAt: at() });
  const fact = readTaskEvent(event, {}, names);
  return { kind: "task", execution: executionId(), key: { nodeId, task: taskId, retryAttempt }, fact, order: BigInt(sequence) };
};
const resourceDeps = () => ({ db, blobs: nothing, config, logger, clusters: [{ name: "", weight: 1, kube }] });
const record = (items: readonly DecodedEvent[], mayHold = false) =>
  recordBatch(
    {
      db,
      ids,
      onRejected: () => undefined,
      completeEnds: (executionIds) => completeFromResources(resourceDeps(), executionIds),
    },
    items,
    () => mayHold,
  );
const stands = (phase: WorkflowPhase, nodeStatus: Record<string, NodeStatus>) =>
  kube.objects.set(`p-d/${name}`, { ...bareResourceIdentity(executionId()), status: { phase, dataDir: "s3://b/e", nodeStatus } });
const at9 = { startedAt: "2026-01-01T00:00:00Z", stoppedAt: "2026-01-01T00:00:09Z" };
const id = (nodeId: string) => ({ nodeId, executionId: executionId() });
const closureOf = async (nodeId: string) => (await served.admin.getNodeExecution({ id: id(nodeId) })).closure;
const outputOf = async (nodeId: string) => (await served.admin.getNodeExecutionData({ id: id(nodeId) })).fullOutputs;

test("nodes at any depth without events are completed from the resource before the end is recorded", async () => {
  const key = Buffer.from(toBinary(CatalogMetadataSchema, create(CatalogMetadataSchema, { datasetId: taskId }))).toString("base64");
  const inner = {
    a: { phase: NodePhase.Succeeded, outputs: base64("inner"), catalog: { status: CatalogCacheStatus.CACHE_PUT_FAILURE, key }, ...at9 },
    b: { phase: NodePhase.Failed, childExecution: "child", error: { code: "C", message: "m" }, ...at9 },
  };
  stands(WorkflowPhase.Failed, { n0: { phase: NodePhase.Succeeded, outputs: base64("outer"), subNodeStatus: inner, ...at9 } });
  const end = workflow(Workflow.FAILED, 3);
  expect((await record([node("n0", Node.SUCCEEDED, { values: "outer" }), end], true)).outcomes).toEqual(["recorded", "waits"]);
  expect((await record([end])).outcomes).toEqual(["recorded"]);
  expect((await outputOf("n0-0-a"))?.literals).toEqual(outputs("inner").literals);
  const a = await closureOf("n0-0-a");
  expect(a).toMatchObject({ startedAt: { seconds: 1_767_225_600n }, duration: { seconds: 9n } });
  expect(a?.targetMetadata).toMatchObject({ value: { cacheStatus: CatalogCacheStatus.CACHE_PUT_FAILURE } });
  expect(await closureOf("n0-0-b")).toMatchObject({
    phase: Node.FAILED,
    outputResult: { case: "error", value: { code: "C" } },
    targetMetadata: { case: "workflowNodeMetadata", value: { executionId: { name: "child" } } },
  });
});

test("an end is recorded at once when as many nodes are recorded as the engine counts", async () => {
  kube.down = true;
  const { outcomes } = await record([node("n0", Node.SUCCEEDED), node("n1", Node.FAILED), workflow(Workflow.FAILED, 2)], true);
  expect(outcomes).toEqual(["recorded", "recorded", "recorded"]);
});

test("the last attempt of a node without a reported end gets the node's outputs or error", async () => {
  stands(WorkflowPhase.Failed, {
    good: { phase: NodePhase.Succeeded, outputs: base64("good"), ...at9 },
    bad: { phase: NodePhase.Failed, attempts: 1, error: { code: "Bad", message: "it failed" }, ...at9 },
  });
  await record([node("good", Node.RUNNING), node("bad", Node.RUNNING)]);
  await record([task("good", Task.RUNNING), task("bad", Task.RUNNING), task("bad", Task.RUNNING, 1)]);
  await record([workflow(Workflow.FAILED)]);
  const data = await served.admin.getTaskExecutionData({ id: { taskId, nodeExecutionId: id("good"), retryAttempt: 0 } });
  expect(data.fullOutputs?.literals).toEqual(outputs("good").literals);
  const { taskExecutions } = await served.admin.listTaskExecutions({ nodeExecutionId: id("bad"), limit: 9 });
  const results = taskExecutions.map(({ closure }) => [
    Task[closure?.phase ?? 0],
    closure?.outputResult.case === "error" ? closure.outputResult.value.code : "",
  ]);
  expect(results).toEqual([
    ["FAILED", "EndNotReported"],
    ["FAILED", "Bad"],
  ]);
});

test("the repair of an end records the nodes of the resource before the resource may be deleted", async () => {
  stands(WorkflowPhase.Success, {
    n0: { phase: NodePhase.Succeeded, outputs: base64("n0"), ...at9 },
    "end-node": { phase: NodePhase.Succeeded, outputs: base64("end"), ...at9 },
  });
  await record([workflow(Workflow.RUNNING), node("n0", Node.RUNNING), task("n0", Task.RUNNING)]);
  let recorded: unknown;
  const announcing = {
    publishEphemeral: () => void (recorded ??= outputOf("n0").catch((error: unknown) => error)),
  } as unknown as Bus;
  await reconcileStale({ ...resourceDeps(), bus: announcing, clock: () => new Date() } as unknown as Parameters<typeof reconcileStale>[0], {
    staleMs: 0,
    limit: 100,
  });
  expect((await served.admin.getExecution({ id: executionId() })).closure?.phase).toBe(Workflow.SUCCEEDED);
  expect(await recorded).toMatchObject({ literals: outputs("n0").literals });
  const data = await served.admin.getTaskExecutionData({ id: { taskId, nodeExecutionId: id("n0"), retryAttempt: 0 } });
  expect(data.fullOutputs?.literals).toEqual(outputs("n0").literals);
});

test("a late event adds missing fields to a recorded end and changes none of the others", async () => {
  await record([node("n0", Node.SUCCEEDED, { outputResult: { case: "outputUri", value: "s3://b/nowhere" } })]);
  const catalogKey = { datasetId: taskId };
  const late = {
    values: "late",
    outputResult: { case: "outputUri", value: "s3://b/o" },
    targetMetadata: { case: "taskNodeMetadata", value: { cacheStatus: CatalogCacheStatus.CACHE_POPULATED, catalogKey } },
  };
  await record([node("n0", Node.SUCCEEDED, late)]);
  expect((await outputOf("n0"))?.literals).toEqual(outputs("late").literals);
  expect((await closureOf("n0"))?.targetMetadata).toMatchObject({ value: { cacheStatus: CatalogCacheStatus.CACHE_POPULATED } });
  await record([node("n0", Node.SUCCEEDED, { ...late, values: "other" }), node("n0", Node.FAILED)]);
  expect(await closureOf("n0")).toMatchObject({ phase: Node.SUCCEEDED });
  expect((await outputOf("n0"))?.literals).toEqual(outputs("late").literals);
});

test("a start from the resource is not changed by a late event", async () => {
  stands(WorkflowPhase.Failed, {
    n0: { phase: NodePhase.Succeeded, startedAt: "2023-11-14T22:13:20Z", stoppedAt: "2023-11-14T22:13:29Z" },
  });
  await record([node("n0", Node.QUEUED), workflow(Workflow.FAILED)]);
  const first = (await closureOf("n0"))?.startedAt;
  const start = { occurredAt: timestampFromMs(1_700_000_000_700) };
  await record([node("n0", Node.RUNNING, start)]);
  expect((await closureOf("n0"))?.startedAt).toEqual(first);
});
