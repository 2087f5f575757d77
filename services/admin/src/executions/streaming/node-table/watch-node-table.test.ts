import { toBinary, create } from "@bufbuild/protobuf";
import { NodeExecutionClosureSchema } from "@flyte-ts/idl/flyteidl/admin/node_execution_pb";
import { NodeFlag, NodeTableService } from "@flyte-ts/idl/flytets/admin/v1/node_table_pb";
import { type CallOptions, Code, createClient } from "@flyte-ts/rpc";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { adminConfigSchema } from "../../../config.js";
import { type AdminDatabase, adminDatabase } from "../../../database.fixture.js";
import { type ServedAdmin, serveAdmin } from "../../../served-admin.fixture.js";
import { bareExecution } from "../../execution/bare-execution.fixture.js";
import { findExecutionId } from "../../store/execution/find.js";
import { insertExecution } from "../../store/execution/insert.js";
import { type NodeValues, writeNode } from "../../store/node/written-nodes.fixture.js";
import { PAGE } from "../../store/node-table/read.js";
import { type ShownNode, ShownTable } from "./shown-table.fixture.js";

// Tests write rows as ingest does and announce the change; the periodic poll is disabled.

const config = adminConfigSchema.parse({ live: { pollSeconds: 600, heartbeatSeconds: 600, lingerSeconds: 0.3 } });
const PATIENT = { timeout: 30_000 };
const CREATED_NS = 1_000_000_000n;
let database: AdminDatabase;
let [here, there]: [ServedAdmin, ServedAdmin] = [undefined, undefined] as unknown as [ServedAdmin, ServedAdmin];
let count = 0;
let name: string;
let rowId: bigint;

beforeAll(async () => {
  database = await adminDatabase();
  [here, there] = [await serveAdmin({ db: database.db, config }), await serveAdmin({ db: database.db, config })];
});
afterAll(async () => {
  await Promise.all([here.stop(), there.stop()]);
  await database.stop();
});
beforeEach(async () => {
  name = `e${count++}`;
  await insertExecution(database.db, { ...bareExecution(name), acceptedAt: CREATED_NS });
  rowId = (await findExecutionId(database.db, { project: "p", domain: "d", name })) ?? 0n;
});

const write = (values: NodeValues): Promise<void> => writeNode(database.db, rowId, { first_ns: CREATED_NS, ...values });

async function attempt(nodeId: string, number: number, task = "t"): Promise<void> {
  await database.db.query({
    text: `INSERT INTO task_executions (execution_id, node_id, project, domain, name, version, retry_attempt, revision, phase, phase_version,
        phase_order, first_ns, first_order, started_order, updated_ns)
      VALUES ($1, $2, 'p', 'd', $3, 'v', $4, 1, 'RUNNING', 0, 0, 0, 0, 0, 0)`,
    values: [rowId, nodeId, task, number],
  });
}

async function end(phase = "SUCCEEDED"): Promise<void> {
  await database.db.query({ text: "UPDATE executions SET phase = $2, ended_ns = $3 WHERE id = $1", values: [rowId, phase, CREATED_NS] });
}

/** A client of one connection after another. */
class Watcher {
  readonly table = new ShownTable();
  readonly chunks: ReturnType<ShownTable["take"]>[] = [];
  failure: unknown;
  #stop = new AbortController();
  done: Promise<void> = Promise.resolve();

  connect(admin = here, request: { cursor?: string; noFollow?: boolean } = {}, options: CallOptions = {}): this {
    this.#stop = new AbortController();
    this.table.connect();
    const client = createClient({ channel: admin.channel, service: NodeTableService });
    const id = { project: "p", domain: "d", name };
    const stream = client.watchNodeTable({ id, cursor: this.cursor, ...request }, { ...options, signal: this.#stop.signal });
    this.done = (async () => {
      try {
        for await (const chunk of stream) this.chunks.push(this.table.take(chunk));
      } catch (error) {
        this.failure = error;
      }
    })();
    return this;
  }

  get cursor(): string {
    return this.chunks.at(-1)?.cursor ?? "";
  }

  node(id: string): ShownNode | undefined {
    return this.table.byId().get(id);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.done;
  }
}

const changed = () => {
  for (const admin of [here, there]) admin.live.nodeTables.changed([rowId]);
};

test("a table has the values of each node, and counts", async () => {
  const launched = create(NodeExecutionClosureSchema, {
    targetMetadata: { case: "workflowNodeMetadata", value: { executionId: { project: "p", domain: "d", name: "child" } } },
  });
  await write({ node_id: "start-node", phase: "SUCCEEDED", ended_ns: CREATED_NS });
  await write({ node_id: "n0-0-start-node", spec_node_id: "start-node", phase: "SUCCEEDED" });
  await write({ node_id: "n4", phase: "SUCCEEDED", ended_ns: CREATED_NS });
  await write({ node_id: "n0", phase: "RUNNING", first_ns: 3_500_000_000n, started_ns: 4_000_000_000n, is_parent: true, is_dynamic: true });
  await write({
    node_id: "n0-0-n1",
    parent_node_id: "n0",
    spec_node_id: "n1",
    phase: "SUCCEEDED",
    cache_status: "CACHE_HIT",
    deck_uri: "s3://deck",
  });
  await write({
    node_id: "n2",
    phase: "FAILED",
    started_ns: CREATED_NS,
    ended_ns: 2_000_000_000n,
    error_code: "USER:Broken",
    is_array: true,
  });
  await write({ node_id: "n3", phase: "RUNNING", target: toBinary(NodeExecutionClosureSchema, launched) });
  await attempt("n2", 0, "train");
  await attempt("n0", 0, "prepare");
  await attempt("n0", 1, "prepare");
  const watcher = new Watcher().connect(here, { noFollow: true });
  await watcher.done;
  expect(watcher.failure).toBeUndefined();
  const nodes = watcher.table.byId();
  expect([...nodes.keys()].toSorted()).toEqual(["n0", "n0-0-n1", "n2", "n3", "n4"]);
  const common = { cache: undefined, attempts: 0, entity: "", error: "", parent: 0 };
  expect(nodes.get("n4")).toMatchObject({
    ...common,
    phase: "SUCCEEDED",
    queued: 0,
    started: -1,
    ended: 0,
    flags: 0,
    spec: "n4",
  });
  expect(nodes.get("n0")).toMatchObject({ phase: "RUNNING", queued: 2_500, started: 500, ended: -1, attempts: 2, entity: "prepare" });
  expect(nodes.get("n0")?.flags).toBe(NodeFlag.PARENT + NodeFlag.DYNAMIC);
  expect(nodes.get("n0-0-n1")).toMatchObject({ parent: nodes.get("n0")?.key, spec: "n1", cache: "CACHE_HIT", flags: NodeFlag.DECK });
  expect(nodes.get("n2")).toMatchObject({
    phase: "FAILED",
    error: "USER:Broken",
    started: 0,
    ended: 1_000,
    flags: NodeFlag.ARRAY,
    entity: "train",
  });
  expect(nodes.get("n3")).toMatchObject({ phase: "RUNNING", flags: NodeFlag.LAUNCHES });
  expect(watcher.chunks.map(({ reset }) => reset).indexOf(true)).toBe(0);
  expect(watcher.chunks[0]).toMatchObject({ ended: false, execution: { id: { name } } });
  const { counts, complete } = watcher.chunks.at(-1) ?? {};
  expect(complete).toBe(true);
  const byPhase = Object.fromEntries([...(counts?.byPhase ?? []).entries()].filter(([, nodesOfPhase]) => nodesOfPhase > 0));
  expect({ byPhase, cached: counts?.cached, retrying: counts?.retrying }).toEqual({
    byPhase: { 2: 2, 3: 2, 5: 1 },
    cached: 1,
    retrying: 1,
  });
});

test("changes of nodes and attempts follow, and the stream ends with the execution", async () => {
  await write({ node_id: "n0", phase: "QUEUED" });
  const watcher = new Watcher().connect();
  await expect.poll(() => watcher.node("n0"), PATIENT).toMatchObject({ phase: "QUEUED", attempts: 0 });
  await write({ node_id: "n0", phase: "RUNNING" });
  await attempt("n0", 0);
  await write({ node_id: "n1" });
  changed();
  await expect.poll(() => watcher.node("n0"), PATIENT).toMatchObject({ phase: "RUNNING", attempts: 1, entity: "t" });
  await expect.poll(() => watcher.node("n1"), PATIENT).toMatchObject({ phase: "QUEUED" });
  await attempt("n0", 1);
  changed();
  await expect.poll(() => watcher.node("n0"), PATIENT).toMatchObject({ attempts: 2 });
  await write({ node_id: "n0", phase: "SUCCEEDED" });
  await write({ node_id: "n1", phase: "SUCCEEDED" });
  await end();
  changed();
  await watcher.done;
  expect(watcher.failure).toBeUndefined();
  expect(watcher.table.byId().get("n1")).toMatchObject({ phase: "SUCCEEDED" });
  expect(watcher.chunks.at(-1)).toMatchObject({ ended: true });
  expect(watcher.chunks.filter(({ reset }) => reset)).toHaveLength(1);
  const after = watcher.chunks.length;
  await watcher.connect().done;
  expect(watcher.chunks).toHaveLength(after);
});

test("a watcher resumes at its replica with the changes alone, elsewhere with the whole table", async () => {
  await write({ node_id: "n0", phase: "QUEUED", error_code: "E0" });
  await write({ node_id: "n1", phase: "QUEUED" });
  const watcher = new Watcher().connect();
  await expect.poll(() => watcher.node("n1"), PATIENT).toMatchObject({ phase: "QUEUED" });
  await expect.poll(() => watcher.chunks.at(-1)?.complete).toBe(true);
  await watcher.stop();
  const before = watcher.chunks.length;
  await write({ node_id: "n1", phase: "RUNNING", error_code: "E1" });
  changed();
  watcher.connect();
  await expect.poll(() => watcher.node("n1"), PATIENT).toMatchObject({ phase: "RUNNING", error: "E1" });
  await watcher.stop();
  const resumed = watcher.chunks.slice(before);
  expect([resumed.some(({ reset }) => reset), Math.max(...resumed.map(({ nodes }) => nodes?.length ?? 0))]).toEqual([false, 1]);
  expect(watcher.table.byId().get("n0")).toMatchObject({ error: "E0" });
  await write({ node_id: "n0", phase: "RUNNING" });
  watcher.connect(there);
  await expect.poll(() => watcher.node("n0"), PATIENT).toMatchObject({ phase: "RUNNING" });
  await watcher.stop();
  expect(watcher.chunks.slice(before + resumed.length).map(({ reset }) => reset)).toContain(true);
  expect(watcher.table.byId().get("n1")).toMatchObject({ phase: "RUNNING", error: "E1" });
});

test("a large table comes in pages, whose last is complete, also while a client reads slowly", async () => {
  const total = 2 * PAGE + 10;
  await database.db.query({
    text: `INSERT INTO node_executions (execution_id, node_id, revision, phase, phase_order, first_ns, first_order, started_order, updated_ns, target_order,
        parent_node_id, created_at)
      SELECT $1, 'n' || i, 1, 'SUCCEEDED', 0, i, 0, 0, 0, 0, CASE WHEN i > 0 THEN 'n0' END, now() + (i % 3) * interval '1 second'
      FROM generate_series(0, $2) AS i`,
    values: [rowId, total - 1],
  });
  const [one, other] = [new Watcher().connect(here, { noFollow: true }), new Watcher().connect(here, { noFollow: true })];
  await Promise.all([one.done, other.done]);
  for (const { table, chunks, failure } of [one, other]) {
    expect(failure).toBeUndefined();
    expect(chunks.filter(({ complete }) => complete)).toEqual([chunks.at(-1)]);
    expect(Math.max(...chunks.map(({ nodes }) => nodes?.length ?? 0))).toBeLessThanOrEqual(PAGE);
    expect(table.rows.size).toBe(total);
    const parent = table.byId().get("n0")?.key;
    expect([...table.rows.values()].filter((node) => node.parent === parent)).toHaveLength(total - 1);
  }
});

test("an execution without nodes has an empty complete table", async () => {
  const watcher = new Watcher().connect(here, { noFollow: true });
  await watcher.done;
  expect(watcher.chunks[0]).toMatchObject({ reset: true, execution: { id: { name } } });
  expect(watcher.chunks.at(-1)).toMatchObject({ complete: true, counts: { byPhase: [] } });
  expect(watcher.table.rows.size).toBe(0);
});

test("a deleted execution ends its streams with NOT_FOUND, as an unknown one does", async () => {
  await write({ node_id: "n0" });
  const watcher = new Watcher().connect();
  await expect.poll(() => watcher.node("n0"), PATIENT).toMatchObject({ phase: "QUEUED" });
  await database.db.query({ text: "DELETE FROM executions WHERE id = $1", values: [rowId] });
  changed();
  await watcher.done;
  expect(watcher.failure).toMatchObject({ code: Code.NOT_FOUND });
  const unknown = new Watcher().connect();
  await unknown.done;
  expect(unknown.failure).toMatchObject({ code: Code.NOT_FOUND });
});

test("a malformed cursor is refused, one of an unknown feed starts anew", async () => {
  await write({ node_id: "n0" });
  const malformed = new Watcher().connect(here, { cursor: "nonsense" });
  await malformed.done;
  expect(malformed.failure).toMatchObject({ code: Code.INVALID_ARGUMENT, message: expect.stringContaining("cursor") });
  const unknown = new Watcher().connect(here, { cursor: "1.abc.9.9.", noFollow: true });
  await unknown.done;
  expect(unknown.chunks[0]).toMatchObject({ reset: true });
  expect([...unknown.table.byId().keys()]).toEqual(["n0"]);
});
