import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { NodePhase, WorkflowPhase } from "@flyte-ts/domain/phase";
import {
  NodeExecution_Phase as Node,
  TaskExecution_Phase as Task,
  WorkflowExecution_Phase as Workflow,
} from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { NodeExecutionEventSchema, TaskExecutionEventSchema, WorkflowExecutionEventSchema } from "@flyte-ts/idl/flyteidl/event/event_pb";
import type { BlobStore } from "@flyte-ts/blobstore";
import type { Bus } from "@flyte-ts/messaging";
import type { Database } from "@flyte-ts/postgres";
import { Code } from "@flyte-ts/rpc";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { readNodeEvent, readTaskEvent, readWorkflowEvent } from "@flyte-ts/execution-state";
import { adminConfigSchema } from "../../config.js";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { offloadNames } from "../../events/offload-names.js";
import { bareExecution, bareResourceIdentity } from "../../executions/execution/bare-execution.fixture.js";
import { insertExecution } from "../../executions/store/execution/insert.js";
import { ExecutionIds } from "../../events/ingest/execution-ids.js";
import type { DecodedEvent } from "../../events/decoded-event.js";
import { recordBatch } from "../../events/ingest/record-batch.js";
import { MemoryKube } from "../launcher/memory-kube.fixture.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";
import { completeFromResources } from "../../events/resource-completion/complete-from-resources.js";
import { backfillTerminalPhases } from "./backfill.js";

const config = adminConfigSchema.parse({});
const names = offloadNames(config);
const logger = createLogger({ service: "test", level: "silent" });
const bus = { publishEphemeral: () => undefined } as unknown as Bus;
const taskId = { resourceType: ResourceType.TASK, project: "p", domain: "d", name: "t", version: "v" };
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
  name = `e${String(count++).padStart(4, "0")}`;
  kube = new MemoryKube();
  sequence = 0;
  await insertExecution(db, bareExecution(name));
});

const executionId = () => ({ project: "p", domain: "d", name });
const at = () => timestampFromMs(1_700_000_000_000 + ++sequence * 1_000);
const workflow = (phase: Workflow): DecodedEvent => {
  const event = create(WorkflowExecutionEventSchema, { executionId: executionId(), phase, occurredAt: at() });
  return { kind: "workflow", execution: executionId(), fact: readWorkflowEvent(event, {}, names), order: BigInt(sequence) };
};
const node = (nodeId: string, phase: Node, more: object = {}): DecodedEvent => {
  const event = create(NodeExecutionEventSchema, { id: { nodeId, executionId: executionId() }, phase, occurredAt: at(), ...more });
  return { kind: "node", execution: executionId(), nodeId, fact: readNodeEvent(event, {}, names), order: BigInt(sequence) };
};
const task = (nodeId: string, phase: Task, retryAttempt = 0): DecodedEvent => {
  const parentNodeExecutionId = { nodeId, executionId: executionId() };
  const event = create(TaskExecutionEventSchema, { taskId, parentNodeExecutionId, retryAttempt, phase, occurredAt: at() });
  const fact = readTaskEvent(event, {}, names);
  return { kind: "task", execution: executionId(), key: { nodeId, task: taskId, retryAttempt }, fact, order: BigInt(sequence) };
};
const ids = new ExecutionIds(config.namespaceTemplate);
const record = (...items: DecodedEvent[]) => recordBatch({ db, ids, onRejected: () => undefined }, items);
const settle = () =>
  backfillTerminalPhases(
    { db, blobs: {} as BlobStore, config, logger, clusters: [{ name: "", weight: 1, kube }] },
    { endedMs: 0, limit: 10 },
  );

async function seen() {
  const { nodeExecutions } = await served.admin.listNodeExecutions({
    workflowExecutionId: executionId(),
    limit: 100,
    sortBy: { key: "node_id", direction: 1 },
  });
  const phases: Record<string, string> = {};
  for (const { id, closure } of nodeExecutions) {
    phases[id?.nodeId ?? ""] = Node[closure?.phase ?? 0] ?? "";
    const { taskExecutions } = await served.admin.listTaskExecutions({ nodeExecutionId: id, limit: 100 });
    for (const attempt of taskExecutions) {
      phases[`${id?.nodeId ?? ""}/${attempt.id?.retryAttempt ?? 0}`] = Task[attempt.closure?.phase ?? 0] ?? "";
    }
  }
  return phases;
}

describe("ends without an event", () => {
  test("are inferred, so that nothing shows RUNNING after its execution has ended", async () => {
    await record(node("n0", Node.RUNNING), task("n0", Task.RUNNING), task("n0", Task.RUNNING, 1), node("n1", Node.QUEUED));
    await settle();
    expect(await seen()).toEqual({ n0: "RUNNING", "n0/0": "RUNNING", "n0/1": "RUNNING", n1: "QUEUED" });
    await record(workflow(Workflow.FAILED));
    await settle();
    expect(await seen()).toEqual({ n0: "ABORTED", "n0/0": "FAILED", "n0/1": "ABORTED", n1: "ABORTED" });
    const { closure } = await served.admin.getNodeExecution({ id: { nodeId: "n0", executionId: executionId() } });
    expect(closure?.outputResult).toMatchObject({
      case: "error",
      value: { code: "EndNotReported", message: "this node did not report its end before the end of the execution (FAILED)" },
    });
    const { taskExecutions } = await served.admin.listTaskExecutions({
      nodeExecutionId: { nodeId: "n0", executionId: executionId() },
      limit: 9,
    });
    expect(taskExecutions.map(({ closure: one }) => one?.reason)).toEqual([
      "this attempt did not report its end before the next attempt",
      "this attempt did not report its end before the end of its node (ABORTED)",
    ]);
    expect(await settle()).toBe(0);
  });

  test("are inferred from the resource, and contents of a node follow it", async () => {
    await record(node("n0", Node.RUNNING, { isParent: true }), node("n1", Node.RUNNING));
    await record(node("n0-0-a", Node.RUNNING, { parentNodeMetadata: { nodeId: "n0" }, retryGroup: "0" }));
    await record(node("n0-1-a", Node.RUNNING, { parentNodeMetadata: { nodeId: "n0" }, retryGroup: "1" }), task("n0-1-a", Task.RUNNING));
    await record(workflow(Workflow.FAILED));
    const nodeStatus = { n0: { phase: NodePhase.Succeeded, attempts: 1 }, n1: { phase: NodePhase.Failed } };
    kube.objects.set(`p-d/${name}`, { ...bareResourceIdentity(executionId()), status: { phase: WorkflowPhase.Failed, nodeStatus } });
    await settle();
    expect(await seen()).toEqual({ n0: "SUCCEEDED", n1: "FAILED" });
    const { nodeExecutions } = await served.admin.listNodeExecutions({
      workflowExecutionId: executionId(),
      limit: 9,
      uniqueParentId: "n0",
      sortBy: { key: "node_id", direction: 1 },
    });
    expect(nodeExecutions.map(({ closure }) => Node[closure?.phase ?? 0])).toEqual(["ABORTED", "SUCCEEDED"]);
  });

  test("have times, error and outputs from the resource for a node without any event, until an event arrives", async () => {
    const outputs = Buffer.from(toBinary(LiteralMapSchema, create(LiteralMapSchema, { literals: { o: {} } }))).toString("base64");
    const times = { startedAt: "2026-01-01T00:00:00Z", stoppedAt: "2026-01-01T00:00:09Z" };
    const nodeStatus = {
      small: { phase: NodePhase.Succeeded, outputs, ...times },
      large: { phase: NodePhase.Succeeded, ...times },
      bad: { phase: NodePhase.Failed, error: { code: "C", message: "m", kind: "USER" }, ...times },
      skippedArm: { phase: NodePhase.Skipped, parentNode: "small" },
    };
    const status = { phase: WorkflowPhase.Failed, dataDir: "s3://b/e", nodeStatus };
    kube.objects.set(`p-d/${name}`, { ...bareResourceIdentity(executionId()), status });
    await record(node("bad", Node.RUNNING), workflow(Workflow.FAILED));
    const present = { head: async (uri: string) => (uri === "s3://b/e/large/data/0/outputs.pb" ? { size: 1 } : undefined) };
    const deps = { db, blobs: present as unknown as BlobStore, config, logger, clusters: [{ name: "", weight: 1, kube }] };
    const [row] = (await db.query<{ id: bigint }>({ text: "SELECT id FROM executions WHERE execution_name = $1", values: [name] })).rows;
    expect(await completeFromResources(deps, [row?.id ?? 0n])).toEqual(new Set());
    expect(await seen()).toEqual({ small: "SUCCEEDED", large: "SUCCEEDED", bad: "FAILED" });
    const closureOf = async (nodeId: string) =>
      (await served.admin.getNodeExecution({ id: { nodeId, executionId: executionId() } })).closure;
    expect(await closureOf("bad")).toMatchObject({ outputResult: { case: "error", value: { code: "C" } }, duration: {} });
    expect(await closureOf("large")).toMatchObject({
      outputResult: { value: "s3://b/e/large/data/0/outputs.pb" },
      startedAt: { seconds: 1_767_225_600n },
      duration: { seconds: 9n },
    });
    const data = await served.admin.getNodeExecutionData({ id: { nodeId: "small", executionId: executionId() } });
    expect(Object.keys(data.fullOutputs?.literals ?? {})).toEqual(["o"]);
    await record(node("small", Node.SUCCEEDED, { outputResult: { case: "outputUri", value: "s3://b/told" } }));
    expect(await closureOf("small")).toMatchObject({ outputResult: { value: "s3://b/told" } });
    await settle();
  });

  test("are not inferred while the resource cannot be read", async () => {
    kube.down = true;
    await record(node("n0", Node.RUNNING));
    const [row] = (await db.query<{ id: bigint }>({ text: "SELECT id FROM executions WHERE execution_name = $1", values: [name] })).rows;
    const deps = { db, blobs: {} as BlobStore, config, logger, clusters: [{ name: "", weight: 1, kube }] };
    const complete = (executionIds: readonly bigint[]) => completeFromResources(deps, executionIds);
    const end = workflow(Workflow.SUCCEEDED);
    const batch = { db, ids, onRejected: () => undefined, completeEnds: complete };
    expect((await recordBatch(batch, [end])).outcomes).toEqual(["waits"]);
    kube.down = false;
    kube.objects.set(`p-d/${name}`, {
      ...bareResourceIdentity(executionId()),
      status: { phase: WorkflowPhase.Success, nodeStatus: { n0: { phase: NodePhase.Succeeded } } },
    });
    const { outcomes, ended } = await recordBatch(batch, [end]);
    expect(outcomes).toEqual(["recorded"]);
    expect(ended.map(({ rowId }) => rowId)).toEqual([row?.id]);
    expect(await seen()).toEqual({ n0: "SUCCEEDED" });
    await settle();
  });

  test("are inferred for other executions when the rows of one cannot be written", async () => {
    await record(node("refused", Node.RUNNING), workflow(Workflow.FAILED));
    await db.query({
      text: `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
        CREATE TRIGGER refuse BEFORE UPDATE ON node_executions FOR EACH ROW WHEN (OLD.node_id = 'refused') EXECUTE FUNCTION refuse()`,
    });
    onTestFinished(async () => {
      await db.query({ text: "DROP FUNCTION refuse CASCADE" });
      await settle();
    });
    expect(await settle()).toBe(0);
    name = `${name}b`;
    await insertExecution(db, bareExecution(name));
    await record(node("n0", Node.RUNNING), workflow(Workflow.FAILED));
    expect(await settle()).toBe(2);
    expect(await seen()).toEqual({ n0: "ABORTED" });
    expect(await settle()).toBe(0);
  });

  test("are inferred although the data plane is unreachable", async () => {
    kube.down = true;
    await record(node("n0", Node.RUNNING), workflow(Workflow.SUCCEEDED));
    await settle();
    expect(await seen()).toEqual({ n0: "SUCCEEDED" });
  });
});

describe("executions whose nodes and attempts have all ended", () => {
  const isSettled = async () =>
    (
      await db.query<{ settled: boolean }>({
        text: "SELECT settled_at IS NOT NULL AS settled FROM executions WHERE execution_name = $1",
        values: [name],
      })
    ).rows[0]?.settled;
  const ends = () => [task("n0", Task.SUCCEEDED), node("n0", Node.SUCCEEDED), workflow(Workflow.SUCCEEDED)];

  test("are settled at their end, and a later RUNNING event reverts that", async () => {
    await record(node("n0", Node.RUNNING), task("n0", Task.RUNNING), workflow(Workflow.RUNNING));
    expect(await isSettled()).toBe(false);
    await record(...ends());
    expect(await isSettled()).toBe(true);
    expect(await settle()).toBe(0);
    await record(node("n1", Node.RUNNING));
    expect(await isSettled()).toBe(false);
    expect(await settle()).toBe(1);
    expect(await seen()).toMatchObject({ n1: "SUCCEEDED" });
    expect(await isSettled()).toBe(true);
  });

  test("are not settled while a node or attempt is open", async () => {
    await record(node("n0", Node.RUNNING), workflow(Workflow.FAILED));
    expect(await isSettled()).toBe(false);
    await settle();
    expect(await seen()).toEqual({ n0: "ABORTED" });
  });

  /**
   * Records items while another replica records a running node, just before the execution's
   * terminal state is written. That replica may crash before its check.
   */
  async function recordWhileOneBegins(items: readonly DecodedEvent[], dies: boolean): Promise<unknown> {
    let begun = false;
    const meanwhile: Pick<Database, "query"> = {
      query: async (query) => {
        if (dies && begun && query.name === "executions-with-non-terminal-rows") throw new Error("died");
        if (!begun && query.name === "update-executions-that-end") {
          begun = true;
          await record(node("n1", Node.RUNNING));
        }
        return db.query(query);
      },
    };
    return recordBatch({ db: meanwhile, ids, onRejected: () => undefined }, items);
  }

  test("are not settled when another replica records a new running node concurrently", async () => {
    await record(node("n0", Node.RUNNING), task("n0", Task.RUNNING));
    await recordWhileOneBegins(ends(), false);
    expect(await seen()).toMatchObject({ n1: "RUNNING" });
    expect(await isSettled()).toBe(false);
  });

  test("are not settled when the replica that recorded the end died before its check; the repeated end settles them", async () => {
    await record(node("n0", Node.RUNNING), task("n0", Task.RUNNING));
    const items = ends();
    await expect(recordWhileOneBegins(items, true)).rejects.toThrow("died");
    expect(await isSettled()).toBe(true);
    await record(...items);
    expect(await isSettled()).toBe(false);
  });
});

describe("late events", () => {
  test("replace the inferred end, by every path", async () => {
    await record(node("n0", Node.RUNNING), task("n0", Task.RUNNING), node("n1", Node.RUNNING), task("n1", Task.RUNNING));
    await record(workflow(Workflow.ABORTED));
    await settle();
    const output = { outputResult: { case: "outputUri", value: "s3://b/o" } };
    await record(task("n0", Task.SUCCEEDED), node("n0", Node.SUCCEEDED, output));
    const nodeId = { nodeId: "n1", executionId: executionId() };
    await served.admin.createTaskEvent({
      event: { taskId, parentNodeExecutionId: nodeId, phase: Task.SUCCEEDED, occurredAt: at() },
    });
    await served.admin.createNodeEvent({ event: { id: nodeId, phase: Node.SUCCEEDED, occurredAt: at() } });
    expect(await seen()).toEqual({ n0: "SUCCEEDED", "n0/0": "SUCCEEDED", n1: "SUCCEEDED", "n1/0": "SUCCEEDED" });
    const { closure } = await served.admin.getNodeExecution({ id: { nodeId: "n0", executionId: executionId() } });
    expect(closure?.outputResult).toEqual({ case: "outputUri", value: "s3://b/o" });
    // A reported end is final.
    await expect(served.admin.createNodeEvent({ event: { id: nodeId, phase: Node.FAILED, occurredAt: at() } })).rejects.toMatchObject({
      code: Code.FAILED_PRECONDITION,
    });
    await record(node("n0", Node.FAILED));
    await settle();
    expect(await seen()).toMatchObject({ n0: "SUCCEEDED", n1: "SUCCEEDED" });
  });

  test("with phase RUNNING are settled, too", async () => {
    await record(workflow(Workflow.FAILED));
    await settle();
    await record(node("n0", Node.RUNNING), task("n0", Task.RUNNING));
    expect(await seen()).toEqual({ n0: "RUNNING", "n0/0": "RUNNING" });
    await settle();
    expect(await seen()).toEqual({ n0: "ABORTED", "n0/0": "ABORTED" });
    // A late event does not reopen a backfilled row.
    await record(node("n0", Node.QUEUED), task("n0", Task.QUEUED));
    await settle();
    expect(await seen()).toEqual({ n0: "ABORTED", "n0/0": "ABORTED" });
  });

  test("lose no reported end while rows are being settled", async () => {
    for (let round = 0; round < 10; round++) {
      const nodes = Array.from({ length: 20 }, (_, i) => `r${round}-${i}`);
      await record(...nodes.map((nodeId) => node(nodeId, Node.RUNNING)));
      if (round === 0) await record(workflow(Workflow.FAILED));
      const ends = nodes.map((nodeId) => node(nodeId, Node.SUCCEEDED));
      await Promise.all([settle(), ...ends.map((end) => record(end)), settle()]);
    }
    await settle();
    expect(new Set(Object.values(await seen()))).toEqual(new Set(["SUCCEEDED"]));
  });
});
