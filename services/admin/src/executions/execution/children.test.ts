import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { executionWakeSubject } from "@flyte-ts/bus-contract";
import { shardOf } from "@flyte-ts/domain/name";
import { ExecutionMetadata_ExecutionMode as Mode, type ExecutionSpecSchema } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { NodeExecution_Phase as Node, WorkflowExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { LiteralTypeSchema, SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { SignalService } from "@flyte-ts/idl/flyteidl/service/signal_pb";
import { WakeSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import type { Bus } from "@flyte-ts/messaging";
import type { Database } from "@flyte-ts/postgres";
import { Code, createClient, type ServiceClient } from "@flyte-ts/rpc";
import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";
import { id, integer, registerLaunchPlan, registerWorkflow, scope } from "./registered-workflow.fixture.js";

let wakes: [string, string, string][] = [];
const bus = {
  publishEphemeral: (subject: string, data: Uint8Array) => {
    if (!subject.startsWith("flyte.wake.")) return;
    const { workflowKey, subject: about } = fromBinary(WakeSchema, data);
    wakes.push([subject, workflowKey, `${about.case}:${about.value}`]);
  },
} as unknown as Bus;
let database: AdminDatabase;
let db: Database;
let served: ServedAdmin;
let admin: ServiceClient<typeof AdminService>;

beforeAll(async () => {
  database = await adminDatabase();
  db = database.db;
  served = await serveAdmin({ db, bus });
  admin = served.admin;
  await registerWorkflow(admin);
  await registerLaunchPlan(admin, "l");
});
afterAll(async () => {
  await served.stop();
  await database.stop();
});
beforeEach(async () => {
  wakes = [];
  await db.query({ text: "TRUNCATE executions, execution_outbox, node_executions CASCADE" });
  await admin.createExecution({ ...scope, name: "parent", spec: { launchPlan: id(ResourceType.LAUNCH_PLAN, "l") }, inputs });
});

const inputs = { literals: { x: integer(5n) } };
const key = (name: string) => ({ ...scope, name });
const n0 = { nodeId: "n0", executionId: key("parent") };
/** Request of the engine for the execution of a launch-plan node. */
const child = (name: string, change: Omit<MessageInitShape<typeof ExecutionSpecSchema>, "$typeName"> = {}) => ({
  ...scope,
  name,
  inputs,
  spec: {
    launchPlan: id(ResourceType.LAUNCH_PLAN, "l"),
    metadata: { mode: Mode.CHILD_WORKFLOW, nesting: 1, parentNodeExecution: n0 },
    ...change,
  },
});
const end = (name: string, phase = Phase.SUCCEEDED) =>
  admin.createWorkflowEvent({ event: { executionId: key(name), phase, occurredAt: timestampFromMs(5) } });
const n0Runs = () => admin.createNodeEvent({ event: { id: n0, phase: Node.RUNNING, occurredAt: timestampFromMs(1) } });
const wakeOf = (about: string) => [executionWakeSubject(shardOf("parent")), "flytesnacks-development/parent", about];

test("a child inherits the principal, is nested one level deeper, and has the engine's settings in its spec", async () => {
  await n0Runs();
  await db.query({ text: "UPDATE executions SET principal = 'ann', cluster = 'far'" });
  const given = {
    labels: { values: { team: "a", "execution-id": "parent" } },
    annotations: { values: { note: "b" } },
    maxParallelism: 7,
    interruptible: true,
    overwriteCache: true,
    envs: { values: [{ key: "K", value: "v" }] },
    rawOutputDataConfig: { outputLocationPrefix: "s3://raw" },
  };
  await admin.createExecution(child("child", given));
  const { spec } = await admin.getExecution({ id: key("child") });
  expect(spec).toMatchObject({
    ...given,
    metadata: {
      mode: Mode.CHILD_WORKFLOW,
      nesting: 1,
      principal: "ann",
      parentNodeExecution: n0,
      systemMetadata: { executionCluster: "far" },
    },
  });
  const { rows } = await db.query<{ launch: { config: object } }>({ text: "SELECT launch FROM executions WHERE execution_name = 'child'" });
  expect(rows[0]?.launch.config).toMatchObject({ ...given, rawOutputDataConfig: given.rawOutputDataConfig });
});

test("a repeated creation of a child returns ALREADY_EXISTS", async () => {
  await n0Runs();
  const results = await Promise.allSettled([1, 2, 3].map(() => admin.createExecution(child("child"))));
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  await expect(admin.createExecution(child("child"))).rejects.toMatchObject({ code: Code.ALREADY_EXISTS });
});

test("the engine may create children before their events arrive, other callers may not", async () => {
  await admin.createExecution(child("early"));
  const unrelated = child("stranger", { metadata: { mode: Mode.CHILD_WORKFLOW, parentNodeExecution: n0 } });
  await expect(admin.createExecution(unrelated)).rejects.toMatchObject({ code: Code.NOT_FOUND });
  const missingParent = { nodeId: "n0", executionId: key("missing") };
  const orphan = child("orphan", { metadata: { mode: Mode.CHILD_WORKFLOW, nesting: 1, parentNodeExecution: missingParent } });
  await expect(admin.createExecution(orphan)).rejects.toMatchObject({ code: Code.NOT_FOUND });
  await n0Runs();
  const { rows } = await db.query<{ id: bigint }>({ text: "SELECT id FROM node_executions WHERE node_id = 'n0'" });
  const { executions } = await admin.listExecutions({ id: scope, limit: 9, filters: `eq(parent_node_execution_id,${rows[0]?.id})` });
  expect(executions.map(({ id: found }) => found?.name)).toEqual(["early"]);
});

test("each reported end of a child wakes the node of its parent and no other execution", async () => {
  await n0Runs();
  await admin.createExecution(child("child"));
  await end("child", Phase.RUNNING);
  expect(wakes).toEqual([]);
  await end("child", Phase.FAILED);
  expect(wakes).toEqual([wakeOf("nodeId:n0")]);
  await end("parent");
  expect(wakes).toHaveLength(1);
});

test("a child that failed at its creation wakes its node, too", async () => {
  await n0Runs();
  await admin.createExecution(child("child", { annotations: { values: { "a b": "x" } } }));
  expect((await admin.getExecution({ id: key("child") })).closure?.phase).toBe(Phase.FAILED);
  expect(wakes).toEqual([wakeOf("nodeId:n0")]);
});

test("a recovered child belongs to the node that recovers it", async () => {
  await n0Runs();
  await admin.createExecution(child("old"));
  await end("old", Phase.FAILED);
  await admin.createExecution({ ...scope, name: "again", spec: { launchPlan: id(ResourceType.LAUNCH_PLAN, "l") }, inputs });
  const parentNodeExecution = { nodeId: "n0", executionId: key("again") };
  await admin.recoverExecution({ id: key("old"), name: "new", metadata: { parentNodeExecution } });
  const { spec } = await admin.getExecution({ id: key("new") });
  expect(spec?.metadata).toMatchObject({ mode: Mode.RECOVERED, nesting: 1, parentNodeExecution, referenceExecution: key("old") });
  const { rows } = await db.query<{ launch: { recovers: unknown } }>({
    text: "SELECT launch FROM executions WHERE execution_name = 'new'",
  });
  expect(rows[0]?.launch.recovers).toMatchObject(key("old"));
  wakes = [];
  await end("new");
  expect(wakes.map(([, workflow, about]) => [workflow, about])).toEqual([["flytesnacks-development/again", "nodeId:n0"]]);
});

test("an execution cannot recover one of another project or domain", async () => {
  for (const other of [{ project: "other" }, { domain: "production" }]) {
    const metadata = { mode: Mode.RECOVERED, referenceExecution: { ...key("old"), ...other } };
    const request = { ...scope, name: "thief", spec: { launchPlan: id(ResourceType.LAUNCH_PLAN, "l"), metadata }, inputs };
    await expect(admin.createExecution(request)).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
  }
});

test("a child that a user relaunches or recovers loses its parent, and gets the user's principal and a new placement", async () => {
  await n0Runs();
  await db.query({ text: "UPDATE executions SET principal = 'ann', cluster = 'far'" });
  await admin.createExecution(child("old"));
  await end("old", Phase.FAILED);
  await admin.relaunchExecution({ id: key("old"), name: "relaunched" });
  await admin.recoverExecution({ id: key("old"), name: "recovered" });
  for (const name of ["relaunched", "recovered"]) {
    const { spec } = await admin.getExecution({ id: key(name) });
    expect(spec?.metadata).toMatchObject({ principal: "", nesting: 0, referenceExecution: key("old") });
    expect(spec?.metadata?.parentNodeExecution).toBeUndefined();
    expect(spec?.metadata?.systemMetadata?.executionCluster).not.toBe("far");
    wakes = [];
    await end(name, Phase.FAILED);
    expect(wakes).toEqual([]);
  }
});

test("a node with children is marked as a parent in responses and lists", async () => {
  await n0Runs();
  const isParent = async () => [
    (await admin.getNodeExecution({ id: n0 })).metadata?.isParentNode,
    (await admin.listNodeExecutions({ workflowExecutionId: n0.executionId, limit: 9 })).nodeExecutions.map(
      ({ metadata }) => metadata?.isParentNode,
    ),
  ];
  expect(await isParent()).toEqual([false, [false]]);
  const child = { nodeId: "n0-0-n0", executionId: n0.executionId };
  const event = { id: child, phase: Node.RUNNING, occurredAt: timestampFromMs(2), parentNodeMetadata: { nodeId: "n0" } };
  await admin.createNodeEvent({ event });
  expect(await isParent()).toEqual([true, [true]]);
});

test("a signal that is set wakes its execution, and a refused one does not", async () => {
  const signals = createClient({ channel: served.channel, service: SignalService });
  const signal = { signalId: "go", executionId: key("parent") };
  await expect(signals.setSignal({ id: signal, value: integer(1n) })).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
  await signals.getOrCreateSignal({ id: signal, type: create(LiteralTypeSchema, { type: { case: "simple", value: SimpleType.INTEGER } }) });
  const text = {
    value: {
      case: "scalar" as const,
      value: { value: { case: "primitive" as const, value: { value: { case: "stringValue" as const, value: "x" } } } },
    },
  };
  await expect(signals.setSignal({ id: signal, value: text })).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
  expect(wakes).toEqual([]);
  await signals.setSignal({ id: signal, value: integer(1n) });
  expect(wakes).toEqual([wakeOf("signalId:go")]);
});
