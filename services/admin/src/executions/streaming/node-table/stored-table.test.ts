import { NodeTableService } from "@flyte-ts/idl/flytets/admin/v1/node_table_pb";
import type { Database } from "@flyte-ts/postgres";
import { Code, createClient } from "@flyte-ts/rpc";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { adminConfigSchema } from "../../../config.js";
import { type AdminDatabase, adminDatabase } from "../../../database.fixture.js";
import { type ServedAdmin, serveAdmin } from "../../../served-admin.fixture.js";
import { bareExecution } from "../../execution/bare-execution.fixture.js";
import { deleteExecutionRows } from "../../store/delete-rows.js";
import { findExecutionId } from "../../store/execution/find.js";
import { insertExecution } from "../../store/execution/insert.js";
import { writeNode } from "../../store/node/written-nodes.fixture.js";
import { readStoredTable, saveStoredTable, STORED_FORMAT, type StoredTable } from "../../store/node-table/stored-table.js";
import { MIN_LARGE_NODES } from "./ended-tables.js";
import { type ShownNode, ShownTable } from "./shown-table.fixture.js";
import { MIN_STORED_NODES } from "./table-store.js";

// Each reader is a replica of its own, which has no feed of the execution yet. No replica is told
// of a change, as if another build had written it.

const config = adminConfigSchema.parse({ live: { pollSeconds: 600, heartbeatSeconds: 600, lingerSeconds: 60 } });
const PATIENT = { timeout: 30_000 };
let database: AdminDatabase;
let replicas: ServedAdmin[] = [];
let count = 0;
let id: { readonly project: string; readonly domain: string; readonly name: string };
let rowId: bigint;

beforeAll(async () => {
  database = await adminDatabase();
});
afterAll(() => database.stop());
afterEach(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()));
  replicas = [];
});
beforeEach(async () => {
  id = { project: "p", domain: "d", name: `e${count++}` };
  await insertExecution(database.db, bareExecution(id.name));
  rowId = (await findExecutionId(database.db, id)) ?? 0n;
  await writeNodes(MIN_STORED_NODES);
});

async function writeNodes(nodes: number): Promise<void> {
  await database.db.query({
    text: `INSERT INTO node_executions (execution_id, node_id, spec_node_id, parent_node_id, phase, error_code, revision, phase_order, first_order,
        started_order, target_order, first_ns, started_ns, ended_ns, updated_ns)
      SELECT $1, 'n' || i, 'spec-' || i % 7, CASE WHEN i % 3 = 1 THEN 'n' || (i - 1) END, 'SUCCEEDED', CASE WHEN i % 5 = 0 THEN 'USER:E' || i END,
        1, 0, 0, 0, 0, i * 1000000::bigint, i * 2000000::bigint, i * 5000000::bigint, 0
      FROM generate_series(0, $2::int - 1) AS i`,
    values: [rowId, nodes],
  });
}

async function end(): Promise<void> {
  await database.db.query({
    text: "UPDATE executions SET phase = 'SUCCEEDED', ended_ns = $2 WHERE id = $1",
    values: [rowId, BigInt(Date.now()) * 1_000_000n],
  });
}

interface ReadTable {
  readonly nodes: Map<string, ShownNode>;
  readonly counts: readonly number[] | undefined;
  /** Pages of nodes that the reader's replica has read. */
  readonly pages: number;
  /** Rows that came after the table was complete. */
  readonly later: readonly string[];
}

/** Reads the table at a new replica, until the stream ends. */
async function read({
  noFollow = false,
  db = database.db,
}: {
  readonly noFollow?: boolean;
  readonly db?: Database;
} = {}): Promise<ReadTable> {
  let pages = 0;
  const counting: Database = {
    ...db,
    transaction: (work) =>
      db.transaction((tx) =>
        work({
          query: (statement) => {
            if (statement.name === "node-table-page") pages++;
            return tx.query(statement);
          },
        }),
      ),
  };
  const replica = await serveAdmin({ db: counting, config });
  replicas.push(replica);
  const table = new ShownTable();
  table.connect();
  let counts: readonly number[] | undefined;
  const later: string[] = [];
  let isComplete = false;
  for await (const chunk of createClient({ channel: replica.channel, service: NodeTableService }).watchNodeTable({ id, noFollow })) {
    const { nodes, counts: told } = table.take(chunk);
    if (isComplete && nodes !== undefined) later.push(...[...table.byId().keys()].slice(-nodes.length));
    counts = told?.byPhase ?? counts;
    isComplete ||= chunk.complete;
  }
  return { nodes: table.byId(), counts, pages, later };
}

const stored = () => readStoredTable(database.db, rowId);
const storedCount = async (): Promise<number> =>
  (await database.db.query({ text: "SELECT FROM execution_node_tables WHERE execution_id = $1", values: [rowId] })).rowCount;

/** Stores the table by its first reader; returns what that has read. */
async function readFirst(): Promise<ReadTable> {
  await end();
  const first = await read();
  await expect.poll(stored, PATIENT).toBeDefined();
  return first;
}

test("the first reader of an ended execution stores its table, and later ones read no nodes", async () => {
  const first = await readFirst();
  expect(first.pages).toBeGreaterThan(0);
  expect(first.nodes.size).toBe(MIN_STORED_NODES);
  const second = await read();
  expect(second.pages).toBe(0);
  expect(second.nodes).toEqual(first.nodes);
  expect([...second.nodes.keys()]).toEqual([...first.nodes.keys()]);
  expect(second.counts).toEqual(first.counts);
  expect(await read({ noFollow: true })).toEqual(second);
});

test("a running execution is not stored, nor one with a node that may still report", async () => {
  await read({ noFollow: true });
  await writeNode(database.db, rowId, { node_id: "open", phase: "RUNNING" });
  await end();
  await read({ noFollow: true });
  await Promise.all(replicas.map((replica) => replica.stop()));
  replicas = [];
  expect(await storedCount()).toBe(0);
});

test("a small table is not stored", async () => {
  await database.db.query({ text: "DELETE FROM node_executions WHERE execution_id = $1 AND node_id = 'n0'", values: [rowId] });
  await end();
  await read();
  await Promise.all(replicas.map((replica) => replica.stop()));
  replicas = [];
  expect(await storedCount()).toBe(0);
});

test("an event after the table was stored reaches each reader, and the table is stored anew", async () => {
  await readFirst();
  const before = await stored();
  await writeNode(database.db, rowId, { node_id: "n3", phase: "FAILED", error_code: "USER:Late" });
  await writeNode(database.db, rowId, { node_id: "late", phase: "SUCCEEDED" });
  const following = await read();
  expect(following.pages).toBe(0);
  expect(following.nodes.get("n3")).toMatchObject({ phase: "FAILED", error: "USER:Late" });
  expect(following.nodes.get("late")).toMatchObject({ phase: "SUCCEEDED" });
  expect(following.later).not.toEqual([]);
  expect(following.nodes.size).toBe(MIN_STORED_NODES + 1);
  await expect.poll(async () => (await stored())?.snapshot.text, PATIENT).not.toBe(before?.snapshot.text);
  const next = await read();
  expect(next.later).toEqual([]);
  expect(next.nodes).toEqual(following.nodes);
});

test("a single answer has an event that came after the table was stored", async () => {
  await readFirst();
  await writeNode(database.db, rowId, { node_id: "n3", phase: "FAILED", error_code: "USER:Late" });
  const { nodes, pages } = await read({ noFollow: true });
  expect(pages).toBe(0);
  expect(nodes.get("n3")).toMatchObject({ phase: "FAILED", error: "USER:Late" });
});

test("an attempt after the table was stored reaches each reader", async () => {
  await readFirst();
  await database.db.query({
    text: `INSERT INTO task_executions (execution_id, node_id, project, domain, name, version, retry_attempt, revision, phase, phase_version,
        phase_order, first_ns, first_order, started_order, updated_ns)
      VALUES ($1, 'n5', 'p', 'd', 'late', 'v', 0, 1, 'SUCCEEDED', 0, 0, 0, 0, 0, 0)`,
    values: [rowId],
  });
  expect((await read()).nodes.get("n5")).toMatchObject({ attempts: 1, entity: "late" });
});

test("an event that is recorded twice changes nothing", async () => {
  const first = await readFirst();
  await database.db.query({ text: "UPDATE node_executions SET revision = revision + 1 WHERE execution_id = $1", values: [rowId] });
  const again = await read();
  expect(again.later).toEqual([]);
  expect(again.nodes).toEqual(first.nodes);
});

test("an event whose transaction is open while the table is stored reaches the next reader", async () => {
  await database.db.transaction(async (tx) => {
    await writeNode(tx, rowId, { node_id: "n7", phase: "FAILED", error_code: "USER:Open" });
    const first = await readFirst();
    expect(first.nodes.get("n7")).toMatchObject({ phase: "SUCCEEDED" });
  });
  const next = await read();
  expect(next.pages).toBe(0);
  expect(next.nodes.get("n7")).toMatchObject({ phase: "FAILED", error: "USER:Open" });
});

test("a table that cannot be stored is read all the same, and stored by the next reader", async () => {
  await end();
  const refusing: Database = {
    ...database.db,
    query: (statement) =>
      statement.name === "save-stored-node-table" ? Promise.reject(new Error("the disk is full")) : database.db.query(statement),
  };
  expect((await read({ db: refusing })).nodes.size).toBe(MIN_STORED_NODES);
  await Promise.all(replicas.map((replica) => replica.stop()));
  replicas = [];
  expect(await storedCount()).toBe(0);
  await readFirst();
});

test("a stored table goes with its execution, and is not stored for a deleted one", async () => {
  await readFirst();
  const table = (await stored()) as StoredTable;
  await database.db.transaction((tx) => deleteExecutionRows(tx, [{ ...id, id: rowId, keepsRawOutputs: false }], new Date()));
  expect(await storedCount()).toBe(0);
  await saveStoredTable(database.db, rowId, table);
  expect(await storedCount()).toBe(0);
});

test.each([
  ["another layout", "format = format - 1", STORED_FORMAT],
  ["a newer layout", "format = format + 1", STORED_FORMAT + 1],
  ["another database server", "system_identifier = system_identifier + 1", STORED_FORMAT],
])("a table of %s is not read", async (_, change, format) => {
  await readFirst();
  await database.db.query({ text: `UPDATE execution_node_tables SET ${change}, pages = '' WHERE execution_id = $1`, values: [rowId] });
  const { nodes, pages } = await read();
  expect(pages).toBeGreaterThan(0);
  expect(nodes.size).toBe(MIN_STORED_NODES);
  await Promise.all(replicas.map((replica) => replica.stop()));
  replicas = [];
  const { rows } = await database.db.query<{ format: number }>({
    text: "SELECT format FROM execution_node_tables WHERE execution_id = $1",
    values: [rowId],
  });
  expect(rows).toEqual([{ format }]);
});

test("damaged pages end the stream with UNAVAILABLE once", async () => {
  const first = await readFirst();
  await database.db.query({
    text: "UPDATE execution_node_tables SET pages = substring(pages FOR octet_length(pages) - 9) WHERE execution_id = $1",
    values: [rowId],
  });
  await expect(read()).rejects.toMatchObject({ code: Code.UNAVAILABLE });
  const { nodes, pages } = await read();
  expect(pages).toBeGreaterThan(0);
  expect(nodes).toEqual(first.nodes);
});

test("the table of a large execution is stored when it ends, before someone reads it", async () => {
  const { live } = await serveAdmin({ db: database.db, config }).then((replica) => (replicas.push(replica), replica));
  await end();
  live.endedTables.add(id, MIN_LARGE_NODES - 1);
  const small = id;
  id = { ...id, name: `e${count++}` };
  await insertExecution(database.db, bareExecution(id.name));
  rowId = (await findExecutionId(database.db, id)) ?? 0n;
  await writeNodes(MIN_STORED_NODES);
  await end();
  live.endedTables.add(id, MIN_LARGE_NODES);
  await expect.poll(stored, PATIENT).toBeDefined();
  rowId = (await findExecutionId(database.db, small)) ?? 0n;
  expect(await storedCount()).toBe(0);
});
