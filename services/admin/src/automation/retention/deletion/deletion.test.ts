import { create, toBinary } from "@bufbuild/protobuf";
import { TaskExecutionEventSchema } from "@flyte-ts/idl/flyteidl/event/event_pb";
import type { Query, Queryable } from "@flyte-ts/postgres";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type AdminDatabase, adminDatabase } from "../../../database.fixture.js";
import { workOnce } from "../../../platform/work-queue/work-once.fixture.js";
import { KeptExecutions, type Made } from "../kept-executions.fixture.js";
import { markDeletions, planDeletions } from "../mark.js";
import type { DeletionDeps } from "./claimed-deletion.js";
import { deleteLateRows } from "./delete-late-rows.js";
import { createDeletionHandler } from "./deletion-handler.js";

let database: AdminDatabase;
let kept: KeptExecutions;
beforeAll(async () => {
  database = await adminDatabase();
  kept = new KeptExecutions(database.db);
});
beforeEach(() => kept.clear());
afterAll(async () => {
  kept.close();
  await database.stop();
});

const later = (seconds: number) => {
  kept.now = new Date(kept.now.getTime() + seconds * 1_000);
};
/** Creates and marks executions whose deletion begins at once. */
async function marked(made: readonly Made[]): Promise<readonly bigint[]> {
  const ids: bigint[] = [];
  for (const each of made) ids.push(await kept.make(each));
  const { deletions } = await planDeletions(kept.db, ids);
  await markDeletions(kept.db, deletions, { at: kept.now, beginsAt: kept.now, byPolicy: true, requestedBy: "" });
  return ids;
}
/** Processes one batch. */
const deleteBatch = (changes: Partial<DeletionDeps> = {}) => workOnce(createDeletionHandler(kept.deps(changes)), 100);
async function waiting() {
  const { rows } = await kept.db.query<{ id: bigint; attempts: number; error: string; delay: number }>({
    text: `SELECT execution_id AS id, attempts, last_error AS error, extract(epoch FROM available_at - $1::timestamptz)::int AS delay
      FROM execution_deletions ORDER BY 1`,
    values: [kept.now],
  });
  return rows;
}
const names = Array.from({ length: 12 }, (_, index) => `e${index + 1}`);

test("executions of a batch are deleted by common requests", async () => {
  await marked(names.map((name) => ({ name })));
  let requests = 0;
  const statements: Query[] = [];
  const counting = (db: Queryable): Queryable => ({
    query: (query) => {
      statements.push(query);
      return db.query(query);
    },
  });
  await deleteBatch({
    blobs: {
      ...kept.blobs,
      deleteAll: (uris) => {
        requests++;
        return kept.blobs.deleteAll(uris);
      },
    },
    db: { ...kept.db, ...counting(kept.db), transaction: (work) => kept.db.transaction((tx) => work(counting(tx))) },
  });
  expect(await kept.rows()).toEqual([]);
  expect(await kept.orphans()).toBe(0);
  expect(await kept.exist(names.flatMap((name) => kept.blobsOf({ name })))).toBe(0);
  expect(requests).toBeLessThan(names.length / 2);
  expect(statements.length).toBeLessThan(names.length * 4);
  const { rows } = await kept.db.query<{ message: string; count: bigint }>({
    text: "SELECT message, count(*) FROM audit_log WHERE subject = 'retention policy' AND code = 'OK' AND ended_at = at GROUP BY message",
  });
  expect(rows).toEqual([{ message: "deleted with 5 blobs", count: BigInt(names.length) }]);
});

test("blobs of one execution that cannot be deleted stop no other of its batch", async () => {
  const ids = await marked(names.map((name) => ({ name })));
  const [broken = ""] = kept.rawOutputsOf("e5");
  const deleteAll = (uris: readonly string[]) =>
    uris.includes(broken) ? Promise.reject(new Error("access denied")) : kept.blobs.deleteAll(uris);
  await deleteBatch({ blobs: { ...kept.blobs, deleteAll } });
  expect(await kept.rows()).toEqual([ids[4]]);
  expect(await waiting()).toEqual([{ id: ids[4], attempts: 1, error: "Error: access denied", delay: 5 }]);
  later(11);
  await deleteBatch();
  expect(await kept.rows()).toEqual([]);
  expect(await kept.exist(kept.blobsOf({ name: "e5" }))).toBe(0);
});

test.each([
  ["delete-executions", "Error: a row is locked"],
  ["confirm-deletions", "Error: a row is locked"],
  ["read-execution-trees", "Error: a row is locked"],
  ["attempts-for-retention", "Error: a row is locked"],
  ["executions-of-same-name", "Error: a row is locked"],
])("an execution for which the statement %s fails stops no other of its batch", async (statement, error) => {
  const ids = await marked(names.map((name) => ({ name })));
  const broken = ids[4] ?? 0n;
  // Ids are in the arrays of the binary format.
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(broken);
  const holds = (value: unknown) => (Buffer.isBuffer(value) ? value.includes(bytes) : Array.isArray(value) && value.includes(broken));
  const refusing = (db: Queryable): Queryable => ({
    query: (query) =>
      query.name === statement && query.values?.some(holds) === true ? Promise.reject(new Error("a row is locked")) : db.query(query),
  });
  const db = {
    ...kept.db,
    ...refusing(kept.db),
    transaction: <T>(work: (tx: Queryable) => Promise<T>) => kept.db.transaction((tx) => work(refusing(tx))),
  };
  await deleteBatch({ db });
  expect(await kept.rows()).toEqual([broken]);
  expect(await waiting()).toEqual([{ id: broken, attempts: 1, error, delay: 5 }]);
  expect(await kept.orphans()).toBe(0);
  later(11);
  await deleteBatch();
  expect(await kept.rows()).toEqual([]);
  const { rows: audit } = await kept.db.query({ text: "SELECT identifiers FROM audit_log" });
  expect(new Set(audit.map(({ identifiers }) => JSON.stringify(identifiers))).size).toBe(names.length);
  expect(audit).toHaveLength(names.length);
});

test("executions of one batch that share folders do not leave them to each other", async () => {
  const made = [
    { name: "e" },
    { name: "e", domain: "staging" },
    { name: "x", project: "a-b", domain: "development" },
    { name: "x", project: "a", domain: "b-development" },
  ];
  await marked(made);
  await deleteBatch();
  expect(await kept.rows()).toEqual([]);
  expect(await kept.exist(made.flatMap((each) => kept.blobsOf(each)))).toBe(0);
});

test("a folder that an execution outside of the batch shares is kept", async () => {
  await marked([{ name: "e" }, { name: "x", project: "a-b", domain: "development" }]);
  const others = [
    { name: "e", domain: "staging" },
    { name: "x", project: "a", domain: "b-development" },
  ];
  for (const other of others) await kept.make(other);
  await deleteBatch();
  expect(await kept.rows()).toHaveLength(2);
  for (const other of others) expect(await kept.exist(kept.blobsOf(other))).toBe(6);
});

test("raw outputs that the cache may refer to are kept, those of the rest of the batch and metadata are deleted", async () => {
  const made = [{ name: "e1" }, { name: "e2", cached: true }, { name: "e3" }, { name: "e3", domain: "staging", cached: true }];
  await marked(made);
  await deleteBatch();
  expect(await kept.rows()).toEqual([]);
  expect(await kept.exist(made.flatMap((each) => kept.metadataOf(each)))).toBe(0);
  expect(await Promise.all(["e1", "e2", "e3"].map((name) => kept.exist(kept.rawOutputsOf(name))))).toEqual([0, 2, 2]);
});

test("a crash between any two requests of a batch leaves only data that its marks find", async () => {
  const three = names.slice(0, 3);
  const blobs = three.flatMap((name) => kept.blobsOf({ name }));
  for (let deaths = 0; ; deaths++) {
    await kept.clear();
    const ids = await marked(three.map((name) => ({ name })));
    let left = deaths;
    const live =
      <Args extends unknown[], Answer>(call: (...args: Args) => Promise<Answer>) =>
      (...args: Args): Promise<Answer> =>
        left-- > 0 ? call(...args) : Promise.reject(new Error("dead"));
    const dying = {
      db: {
        ...kept.db,
        query: live((query) => kept.db.query(query)) as typeof kept.db.query,
        transaction: <T>(work: (tx: Queryable) => Promise<T>) =>
          kept.db.transaction((tx) => work({ query: live((query) => tx.query(query)) as Queryable["query"] })),
      },
      blobs: { ...kept.blobs, deleteAll: live((uris: readonly string[]) => kept.blobs.deleteAll(uris)) },
    };
    const { claim, process } = createDeletionHandler(kept.deps(dying));
    // Requests sent before the crash are still processed.
    await Promise.allSettled((await claim(100, []).catch(() => [])).map(process));
    const rows = await kept.rows();
    expect((await waiting()).map(({ id }) => id)).toEqual(rows);
    const gone = three.filter((_, index) => !rows.includes(ids[index] ?? 0n));
    expect([deaths, await kept.exist(gone.flatMap((name) => kept.blobsOf({ name })))]).toEqual([deaths, 0]);
    expect(await kept.orphans()).toBe(0);
    // The lease expires, and another process continues.
    later(121);
    while ((await deleteBatch()) > 0);
    expect([deaths, await kept.rows(), await kept.exist(blobs), await kept.orphans()]).toEqual([deaths, [], 0, 0]);
    if (left > 0) break;
  }
});

test("rows of a large execution are deleted in several transactions, with the row of the execution in the last one", async () => {
  const [large = 0n] = await marked([{ name: "e1" }, { name: "e2" }]);
  await kept.db.query({
    text: `INSERT INTO node_executions (execution_id, node_id, revision, phase, phase_order, first_ns, first_order, started_order, updated_ns, target_order)
      SELECT $1, 'm' || i, 1, 'SUCCEEDED', 1, 1, 1, 1, 1, 1 FROM generate_series(1, 12000) AS i`,
    values: [large],
  });
  const left: string[] = [];
  const transaction: typeof kept.db.transaction = async (work) => {
    const result = await kept.db.transaction(work);
    const { rows } = await kept.db.query<{ left: string }>({
      text: `SELECT (SELECT count(*) FROM executions WHERE id = $1) || ' ' || (SELECT count(*) FROM node_executions WHERE execution_id = $1) AS left`,
      values: [large],
    });
    left.push(rows[0]?.left ?? "");
    return result;
  };
  await deleteBatch({ db: { ...kept.db, transaction } });
  expect([...new Set(left)].filter((each) => each !== "1 12001")).toEqual(["1 7001", "1 2001", "0 0"]);
  expect(await kept.rows()).toEqual([]);
});

test("rows that a concurrent batch of events writes after the deletion of their execution are deleted an hour later", async () => {
  const ids = await marked([{ name: "e1" }, { name: "e2" }]);
  await deleteBatch();
  for (const id of ids) await kept.makeParts(id);
  const other = await kept.make({ name: "e1" });
  expect(await kept.orphans()).toBe(4);
  later(3_500);
  expect(await deleteLateRows(kept.deps(), 10)).toBe(0);
  later(101);
  expect(await deleteLateRows(kept.deps(), 1)).toBe(1);
  expect(await deleteLateRows(kept.deps(), 10)).toBe(1);
  expect(await deleteLateRows(kept.deps(), 10)).toBe(0);
  expect(await kept.orphans()).toBe(0);
  const { rows } = await kept.db.query<{ execution_id: bigint }>({ text: "SELECT execution_id FROM node_executions" });
  expect(rows).toEqual([{ execution_id: other }]);
});

test("raw outputs of plugins that write none are not listed, unless an event names no plugin or another one", async () => {
  const made = ["echo", "container", "mixed", "unnamed", "unknown"].map((name) => ({ name }));
  const ids = await marked(made);
  const event = (pluginIdentifier: string) =>
    toBinary(TaskExecutionEventSchema, create(TaskExecutionEventSchema, { metadata: { pluginIdentifier } }));
  const events: readonly (readonly Uint8Array[])[] = [
    [event("echo"), event("echo")],
    [event("container")],
    [event("echo"), event("container")],
    [event("echo"), event("")],
    [event("echo"), new Uint8Array([0xff])],
  ];
  for (const [index, own] of events.entries()) {
    await kept.db.query({
      text: `WITH gone AS (DELETE FROM task_execution_events v USING task_executions t WHERE v.task_execution_id = t.id AND t.execution_id = $1)
        INSERT INTO task_execution_events (task_execution_id, event_order, event)
          SELECT id, 1 + place, e FROM task_executions, unnest($2::bytea[]) WITH ORDINALITY AS u(e, place) WHERE execution_id = $1`,
      values: [ids[index], own],
    });
  }
  const listed: string[] = [];
  const list = (prefix: string) => {
    listed.push(prefix);
    return kept.blobs.list(prefix);
  };
  await deleteBatch({ blobs: { ...kept.blobs, list } });
  expect(await kept.rows()).toEqual([]);
  const rawOutputs = made.map(({ name }) => listed.filter((prefix) => prefix.includes(`/${name}-`) && prefix.includes("/data/")).length);
  expect(rawOutputs).toEqual([0, 1, 1, 1, 1]);
});
