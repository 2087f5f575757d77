import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { TaskExecutionEventSchema } from "@flyte-ts/idl/flyteidl/event/event_pb";
import { NodeTableService } from "@flyte-ts/idl/flytets/admin/v1/node_table_pb";
import { Code, createClient } from "@flyte-ts/rpc";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { adminConfigSchema } from "../../../config.js";
import { type AdminDatabase, adminDatabase } from "../../../database.fixture.js";
import { type ServedAdmin, serveAdmin } from "../../../served-admin.fixture.js";
import { bareExecution } from "../../execution/bare-execution.fixture.js";
import { findExecutionId } from "../../store/execution/find.js";
import { insertExecution } from "../../store/execution/insert.js";
import { writeNode } from "../../store/node/written-nodes.fixture.js";
import { ShownTable } from "../node-table/shown-table.fixture.js";

// Tests write rows as ingest does and announce the change; the periodic poll is disabled.

const config = adminConfigSchema.parse({ live: { pollSeconds: 600, heartbeatSeconds: 600 } });
const CREATED_NS = 1_000_000_000n;
const PATIENT = { timeout: 30_000 };
let database: AdminDatabase;
let admin: ServedAdmin;
let count = 0;
let [name, rowId]: [string, bigint] = ["", 0n];

beforeAll(async () => {
  database = await adminDatabase();
  admin = await serveAdmin({ db: database.db, config });
});
afterAll(async () => {
  await admin.stop();
  await database.stop();
});
beforeEach(async () => {
  name = `e${count++}`;
  await insertExecution(database.db, { ...bareExecution(name), acceptedAt: CREATED_NS });
  rowId = (await findExecutionId(database.db, { project: "p", domain: "d", name })) ?? 0n;
  await writeNode(database.db, rowId, { node_id: "n0", phase: "RUNNING", is_array: true, first_ns: CREATED_NS });
});

async function attempt(number: number, phase = "RUNNING"): Promise<bigint> {
  const { rows } = await database.db.query<{ id: bigint }>({
    text: `INSERT INTO task_executions (execution_id, node_id, project, domain, name, version, retry_attempt, revision, phase, phase_version,
        phase_order, first_ns, first_order, started_order, updated_ns)
      VALUES ($1, 'n0', 'p', 'd', 't', 'v', $2, 1, $3, 0, 0, 0, 0, 0, 0) RETURNING id`,
    values: [rowId, number, phase],
  });
  return rows[0]?.id ?? 0n;
}

/** Stores an event in which items have these phases. */
async function report(attemptId: bigint, order: number, items: Readonly<Record<number, Phase>>): Promise<void> {
  const event = create(TaskExecutionEventSchema, {
    occurredAt: timestampFromMs(1_000 + order),
    phase: Phase.RUNNING,
    reason: `event ${order}`,
    metadata: {
      pluginIdentifier: "k8s-array",
      externalResources: Object.entries(items).map(([index, phase]) => ({ index: Number(index), phase, externalId: `i${index}` })),
    },
  });
  await database.db.query({
    text: "INSERT INTO task_execution_events (task_execution_id, event_order, event) VALUES ($1, $2, $3)",
    values: [attemptId, order, Buffer.from(toBinary(TaskExecutionEventSchema, event))],
  });
}

async function end(phase = "SUCCEEDED"): Promise<void> {
  await database.db.query({ text: "UPDATE task_executions SET phase = $2 WHERE execution_id = $1", values: [rowId, phase] });
  await writeNode(database.db, rowId, { node_id: "n0", phase, is_array: true, first_ns: CREATED_NS });
}

const id = () => ({ executionId: { project: "p", domain: "d", name }, nodeId: "n0" });
const client = () => createClient({ channel: admin.channel, service: NodeTableService });
const announce = () => admin.live.itemTables.changed([rowId]);

/** A client that follows the items. */
class Watcher {
  readonly table = new ShownTable();
  readonly chunks: ReturnType<ShownTable["take"]>[] = [];
  failure: unknown;
  readonly #stop = new AbortController();
  readonly done: Promise<void>;

  constructor(request: { attempt?: number; cursor?: string; noFollow?: boolean } = {}) {
    const stream = client().watchItemTable({ id: id(), ...request }, { signal: this.#stop.signal });
    this.done = (async () => {
      try {
        for await (const chunk of stream) this.chunks.push(this.table.take(chunk));
      } catch (error) {
        this.failure = error;
      }
    })();
  }

  phases(): Record<string, string> {
    return Object.fromEntries([...this.table.rows.values()].map(({ id: index, phase }) => [index, phase]));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.done;
  }
}

test("items are rows with counts; the stream ends with the node", async () => {
  const first = await attempt(0);
  await report(first, 1, { 0: Phase.QUEUED, 1: Phase.QUEUED, 2: Phase.QUEUED });
  await report(first, 2, { 0: Phase.RUNNING });
  const watcher = new Watcher();
  await vi.waitFor(() => expect(watcher.chunks.some(({ complete }) => complete)).toBe(true), PATIENT);
  expect(watcher.phases()).toEqual({ 0: "RUNNING", 1: "QUEUED", 2: "QUEUED" });
  expect(watcher.chunks[0]).toMatchObject({ reset: true, execution: { id: { name } } });
  expect(watcher.chunks.findLast(({ counts }) => counts)?.counts?.byPhase.slice(0, 3)).toEqual([0, 2, 1]);
  await report(first, 3, { 0: Phase.SUCCEEDED, 1: Phase.RUNNING });
  announce();
  await vi.waitFor(() => expect(watcher.phases()).toEqual({ 0: "SUCCEEDED", 1: "RUNNING", 2: "QUEUED" }), PATIENT);
  await report(first, 4, { 1: Phase.SUCCEEDED, 2: Phase.FAILED });
  await end("FAILED");
  announce();
  await watcher.done;
  expect(watcher.failure).toBeUndefined();
  expect(watcher.chunks.at(-1)?.ended).toBe(true);
  expect(watcher.phases()).toEqual({ 0: "SUCCEEDED", 1: "SUCCEEDED", 2: "FAILED" });
});

test("an event that arrives late, before those read, is not lost at the end", async () => {
  const first = await attempt(0);
  await report(first, 5, { 0: Phase.SUCCEEDED });
  const watcher = new Watcher();
  await vi.waitFor(() => expect(watcher.phases()).toEqual({ 0: "SUCCEEDED" }), PATIENT);
  await report(first, 3, { 0: Phase.RUNNING, 1: Phase.SUCCEEDED });
  await end();
  announce();
  await watcher.done;
  expect(watcher.phases()).toEqual({ 0: "SUCCEEDED", 1: "SUCCEEDED" });
});

test("more events than a statement reads are all read", async () => {
  const first = await attempt(0);
  for (let index = 0; index < 45; index++) await report(first, index, { [index]: Phase.SUCCEEDED });
  const watcher = new Watcher({ noFollow: true });
  await watcher.done;
  expect(watcher.table.rows.size).toBe(45);
  expect(watcher.chunks.at(-1)).toMatchObject({ complete: true, ended: false });
});

test("a watcher of the latest attempt begins anew with another attempt; a watcher of one keeps it", async () => {
  const first = await attempt(0);
  await report(first, 1, { 0: Phase.FAILED });
  const [latest, kept] = [new Watcher(), new Watcher({ attempt: 0 })];
  await vi.waitFor(() => expect([latest.phases(), kept.phases()]).toEqual([{ 0: "FAILED" }, { 0: "FAILED" }]), PATIENT);
  await report(await attempt(1), 1, { 5: Phase.RUNNING });
  announce();
  await latest.done;
  expect(latest.failure).toMatchObject({ code: Code.UNAVAILABLE });
  const resumed = new Watcher({ cursor: latest.chunks.at(-1)?.cursor ?? "" });
  await vi.waitFor(() => expect(resumed.phases()).toEqual({ 5: "RUNNING" }), PATIENT);
  expect(resumed.chunks[0]?.reset).toBe(true);
  expect(kept.phases()).toEqual({ 0: "FAILED" });
  await Promise.all([resumed.stop(), kept.stop()]);
});

test("tables that no client watches are dropped", async () => {
  await report(await attempt(0), 1, { 0: Phase.RUNNING });
  const watchers = [new Watcher(), new Watcher()];
  for (const watcher of watchers) await vi.waitFor(() => expect(watcher.table.rows.size).toBe(1), PATIENT);
  expect(admin.live.itemTables.size).toBe(1);
  await watchers[0]?.stop();
  expect(admin.live.itemTables.size).toBe(1);
  await watchers[1]?.stop();
  await vi.waitFor(() => expect(admin.live.itemTables.size).toBe(0), PATIENT);
});

test("a node without the attempt and a malformed cursor are errors", async () => {
  const none = new Watcher();
  await none.done;
  expect(none.failure).toMatchObject({
    code: Code.NOT_FOUND,
    message: expect.stringContaining(`node n0 of execution p/d/${name} has no attempt`),
  });
  await attempt(0);
  const other = new Watcher({ attempt: 4 });
  await other.done;
  expect(other.failure).toMatchObject({ code: Code.NOT_FOUND, message: expect.stringContaining("has no attempt 4") });
  const malformed = new Watcher({ cursor: "x" });
  await malformed.done;
  expect(malformed.failure).toMatchObject({ code: Code.INVALID_ARGUMENT });
});

test("attempts of an array are listed without its items", async () => {
  const first = await attempt(0, "FAILED");
  for (let order = 1; order <= 3; order++) await report(first, order, { [order]: Phase.RUNNING });
  await attempt(1);
  const { attempts } = await client().listNodeAttempts({ id: id() });
  expect(attempts.map((each) => [each.id?.retryAttempt, each.closure?.phase, each.closure?.metadata?.externalResources.length])).toEqual([
    [0, Phase.FAILED, 0],
    [1, Phase.RUNNING, undefined],
  ]);
  expect(attempts[0]?.closure?.reasons.map(({ message }) => message)).toEqual(["event 1", "event 3"]);
});
