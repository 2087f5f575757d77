import { create } from "@bufbuild/protobuf";
import { RetentionService } from "@flyte-ts/idl/flytets/admin/v1/retention_pb";
import type { DeleteOptions, ObjectName } from "@flyte-ts/kubernetes";
import { Code, createClient, type ServiceClient } from "@flyte-ts/rpc";
import { CatalogCacheStatus } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { TaskExecutionEventSchema } from "@flyte-ts/idl/flyteidl/event/event_pb";
import { ExternalResourceInfoSchema, TaskExecutionMetadataSchema } from "@flyte-ts/idl/flyteidl/event/event_pb";
import { toBinary } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { Database } from "@flyte-ts/postgres";
import { type Logger, Metrics } from "@flyte-ts/telemetry";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { workOnce } from "../../platform/work-queue/work-once.fixture.js";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";
import { createDeletionHandler } from "./deletion/deletion-handler.js";
import { KeptExecutions, type Made } from "./kept-executions.fixture.js";
import { retentionMetrics } from "./deletion/metrics.js";
import { rawOutputFolders } from "./deletion/storage-paths.js";
import { sweep, pruneAuditLog } from "./sweep.js";

let database: AdminDatabase;
let kept: KeptExecutions;
let served: ServedAdmin;
let retention: ServiceClient<typeof RetentionService>;
beforeAll(async () => {
  database = await adminDatabase();
  kept = new KeptExecutions(database.db);
  served = await serveAdmin({ db: database.db, config: { ...kept.config, projects: ["p", "a", "a-b"] }, clock: () => kept.now });
  retention = createClient({ channel: served.channel, service: RetentionService });
});
beforeEach(() => kept.clear());
afterAll(async () => {
  await served.stop();
  kept.close();
  await database.stop();
});

const key = (name: string) => ({ project: "p", domain: "development", name });
const remove = (name: string, dryRun = false) => retention.deleteExecution({ id: key(name), dryRun });
const later = (seconds: number) => {
  kept.now = new Date(kept.now.getTime() + seconds * 1_000);
};
/** Processes all deletions. */
async function finish(): Promise<void> {
  later(61);
  while ((await workOnce(createDeletionHandler(kept.deps()), 10)) > 0);
}

test("the own resource of a deleted execution is deleted from its data plane, and a data plane that fails does not keep the execution", async () => {
  await kept.make({ name: "e1" });
  await kept.make({ name: "e2" });
  await kept.make({ name: "e3" });
  const deleted: string[] = [];
  const acceptedAt = kept.now.toISOString();
  const projectOf = (name: string) => (name === "e3" ? "another" : "p");
  const cluster = {
    name: "",
    weight: 1,
    kube: {
      get: (async (_: unknown, { namespace, name }: ObjectName) => ({
        metadata: { namespace, name, uid: `uid of ${name}` },
        executionId: { project: projectOf(name), domain: "development", name },
        acceptedAt,
      })) as never,
      delete: (_: unknown, { namespace, name, uid }: DeleteOptions) => {
        deleted.push(`${namespace}/${name} ${uid}`);
        return name === "e2" ? Promise.reject(new Error("no such host")) : Promise.resolve(true);
      },
    },
  };
  await remove("e1");
  await remove("e2");
  await remove("e3");
  later(61);
  while ((await workOnce(createDeletionHandler(kept.deps({ clusters: [cluster] })), 10)) > 0);
  expect(deleted.toSorted()).toEqual(["p-development/e1 uid of e1", "p-development/e2 uid of e2"]);
  expect(await kept.rows()).toEqual([]);
});

test("an execution is deleted with its rows, its blobs and its child executions only", async () => {
  const root = await kept.make({ name: "e1" });
  const child = await kept.make({ name: "c1", parent: root });
  await kept.make({ name: "c2", parent: child });
  const other = await kept.make({ name: "e10" });
  await kept.db.query({ text: "INSERT INTO execution_tags (execution_id, key) VALUES ($1, 'k')", values: [root] });
  await kept.db.query({
    text: "INSERT INTO signals (execution_project, execution_domain, execution_name, signal_id, type) VALUES ('p', 'development', 'e1', 's', '')",
  });

  const { deletion, beginsAt } = await remove("e1");
  expect(deletion?.launched.map(({ name }) => name)).toEqual(["c1", "c2"]);
  expect(beginsAt?.seconds).toBe(BigInt(kept.now.getTime() / 1_000 + 60));
  // Nothing is deleted during the grace time.
  later(59);
  expect(await workOnce(createDeletionHandler(kept.deps()), 10)).toBe(0);
  await finish();

  expect(await kept.rows()).toEqual([other]);
  expect(await kept.orphans()).toBe(0);
  expect(await kept.exist(["e1", "c1", "c2"].flatMap((name) => kept.blobsOf({ name })))).toBe(0);
  expect(await kept.exist(kept.blobsOf({ name: "e10" }))).toBe(6);
  const { rows: signals } = await kept.db.query({ text: "SELECT 1 FROM signals" });
  expect(signals).toEqual([]);
  const { rows: audit } = await kept.db.query<{ identifiers: object; message: string }>({
    text: "SELECT identifiers, message FROM audit_log WHERE method LIKE '%RetentionService/DeleteExecution' ORDER BY id",
  });
  expect(audit).toHaveLength(3);
  expect(audit).toContainEqual({ identifiers: { id: key("e1") }, message: "deleted with 5 blobs" });
});

test("a dry run reports the same and deletes nothing", async () => {
  const root = await kept.make({ name: "e" });
  await kept.make({ name: "c", parent: root });
  const { deletion, beginsAt } = await remove("e", true);
  expect(deletion?.launched.map(({ name }) => name)).toEqual(["c"]);
  expect(beginsAt).toBeUndefined();
  await finish();
  expect(await kept.rows()).toHaveLength(2);
});

const parent: Made = { name: "parent" };
test.each<[string, readonly (Made & { readonly below?: string; readonly after?: string })[], string]>([
  ["it runs", [{ name: "e", phase: "RUNNING" }], "p/development/e has not ended"],
  ["its child runs", [{ name: "e" }, { name: "c", phase: "QUEUED", below: "e" }], "p/development/c has not ended"],
  ["a child's child runs", [{ name: "e" }, { name: "c", below: "e" }, { name: "d", phase: "ABORTING", below: "c" }], "d has not ended"],
  [
    "its parent runs",
    [
      { ...parent, phase: "RUNNING" },
      { name: "e", below: "parent" },
    ],
    "was launched by p/development/parent",
  ],
  ["its parent exists", [parent, { name: "e", below: "parent" }], "was launched by p/development/parent"],
  ["its recovery exists", [{ name: "e" }, { name: "r", after: "e" }], "p/development/r needs the results of p/development/e"],
  [
    "a recovery of its child exists",
    [{ name: "e" }, { name: "c", below: "e" }, { name: "r", phase: "RUNNING", after: "c" }],
    "p/development/r needs the results of p/development/c",
  ],
  ["its end is still being processed", [{ name: "e", settled: false }], "is still being processed"],
])("an execution is not deleted when %s", async (_, executions, reason) => {
  const ids = new Map<string, bigint>();
  for (const { below, after, ...made } of executions) {
    ids.set(
      made.name,
      await kept.make({
        ...made,
        parent: below === undefined ? undefined : ids.get(below),
        recovers: after === undefined ? undefined : ids.get(after),
      }),
    );
  }
  await expect(remove("e")).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION, message: expect.stringContaining(reason) });
  await finish();
  expect(await kept.rows()).toHaveLength(executions.length);
});

test("a pending request to a data plane prevents the deletion of its execution", async () => {
  const id = await kept.make({ name: "e" });
  await kept.db.query({ text: "INSERT INTO execution_outbox (execution_id, action) VALUES ($1, 'abort')", values: [id] });
  await expect(remove("e")).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION });
});

test("an execution whose outputs a trigger passed on is not deleted before the started execution has ended", async () => {
  const id = await kept.make({ name: "e" });
  const started = await kept.make({ name: "next", phase: "RUNNING" });
  await kept.db.query({
    text: `WITH made AS (INSERT INTO triggers (project, domain, name, trigger, target_project, target_domain) VALUES ('p', 'development', 't', '', 'p', 'd')
        RETURNING id)
      INSERT INTO trigger_firings (trigger_id, cause, source_execution_id, happened_at, execution_project, execution_domain, execution_name, depth)
      SELECT id, 'c', $1, now(), 'p', 'development', 'next', 1 FROM made`,
    values: [id],
  });
  const refused = (message: string) => ({ code: Code.FAILED_PRECONDITION, message: expect.stringContaining(message) });
  await expect(remove("e")).rejects.toMatchObject(refused("is still being processed"));
  await kept.db.query({ text: "UPDATE trigger_firings SET state = 'started'" });
  await expect(remove("e")).rejects.toMatchObject(refused("p/development/next needs the results of p/development/e"));
  await kept.db.query({ text: "UPDATE executions SET phase = 'FAILED' WHERE id = $1", values: [started] });
  expect((await remove("e", true)).deletion?.id?.name).toBe("e");
});

test("outputs that the cache may refer to are kept for the whole tree, also if only an item of an array was cached", async () => {
  const root = await kept.make({ name: "e1" });
  await kept.make({ name: "c1", parent: root, cached: true });
  const array = await kept.make({ name: "e2" });
  const item = create(ExternalResourceInfoSchema, { index: 1, cacheStatus: CatalogCacheStatus.CACHE_POPULATED });
  const metadata = create(TaskExecutionMetadataSchema, { externalResources: [item] });
  await kept.db.query({ text: "UPDATE node_executions SET is_array = true WHERE execution_id = $1", values: [array] });
  await kept.db.query({
    text: "UPDATE task_execution_events SET event = $2 WHERE task_execution_id = (SELECT id FROM task_executions WHERE execution_id = $1)",
    values: [array, toBinary(TaskExecutionEventSchema, create(TaskExecutionEventSchema, { metadata }))],
  });
  expect((await remove("e1")).deletion?.keepsRawOutputs).toBe(true);
  expect((await remove("e2")).deletion?.keepsRawOutputs).toBe(true);
  await finish();
  expect(await kept.rows()).toEqual([]);
  for (const name of ["e1", "c1", "e2"]) {
    expect(await kept.exist(kept.metadataOf({ name }))).toBe(0);
    expect(await kept.exist(kept.rawOutputsOf(name))).toBe(2);
  }
});

test("an undecodable event of an array does not block deletions, and its outputs are kept for the cache", async () => {
  await retention.setRetentionPolicy({ policy: { project: "p", keep: durationFromMs(1_000) } });
  const broken = await kept.make({ name: "e1", age: 10 });
  await kept.make({ name: "e2", age: 9 });
  await kept.db.query({ text: "UPDATE node_executions SET is_array = true WHERE execution_id = $1", values: [broken] });
  await kept.db.query({
    text: "UPDATE task_execution_events SET event = '\\xff' WHERE task_execution_id = (SELECT id FROM task_executions WHERE execution_id = $1)",
    values: [broken],
  });
  await sweep(kept.deps());
  await finish();
  expect(await kept.rows()).toEqual([]);
  expect([await kept.exist(kept.rawOutputsOf("e1")), await kept.exist(kept.rawOutputsOf("e2"))]).toEqual([2, 0]);
});

test("outputs of every attempt of an array's items are deleted", async () => {
  const id = await kept.make({ name: "e" });
  const items = [
    { index: 0, attempt: 0 },
    { index: 7, attempt: 1 },
  ];
  const resources = items.map(({ index, attempt }) => create(ExternalResourceInfoSchema, { index, retryAttempt: attempt }));
  await kept.db.query({
    text: "UPDATE task_execution_events SET event = $2 WHERE task_execution_id = (SELECT id FROM task_executions WHERE execution_id = $1)",
    values: [id, toBinary(TaskExecutionEventSchema, create(TaskExecutionEventSchema, { metadata: { externalResources: resources } }))],
  });
  const folders = rawOutputFolders(kept.config.storage.rawOutputPrefix, { execution: "e", nodeId: "n0", attempt: 0, items });
  expect(folders).toHaveLength(4);
  for (const folder of folders) await kept.blobs.put(`${folder}x`, new Uint8Array([1]));
  await remove("e");
  await finish();
  expect(await kept.exist(folders.map((folder) => `${folder}x`))).toBe(0);
});

test("blobs in a folder that several executions share are deleted with the last of them", async () => {
  // Executions of one name in different domains share the folders of raw outputs. Names with the
  // same joined form share the metadata folder.
  await kept.make({ name: "e" });
  await kept.make({ name: "e", domain: "staging" });
  await kept.make({ name: "x", project: "a-b", domain: "development" });
  await kept.make({ name: "x", project: "a", domain: "b-development" }, false);
  await remove("e");
  await retention.deleteExecution({ id: { project: "a-b", domain: "development", name: "x" } });
  await finish();
  expect(await kept.exist(kept.metadataOf({ name: "e" }))).toBe(0);
  expect(await kept.exist(kept.rawOutputsOf("e"))).toBe(2);
  expect(await kept.exist(kept.metadataOf({ project: "a-b", name: "x" }).slice(0, 3))).toBe(3);
  await retention.deleteExecution({ id: { project: "p", domain: "staging", name: "e" } });
  await retention.deleteExecution({ id: { project: "a", domain: "b-development", name: "x" } });
  await finish();
  expect(await kept.exist([...kept.rawOutputsOf("e"), ...kept.metadataOf({ project: "a-b", name: "x" }).slice(0, 3)])).toBe(0);
});

test.each([
  ["one after the other", true],
  ["at the same time", false],
])("outputs kept for the cache stay when an execution with the same name elsewhere is deleted %s", async (_, separately) => {
  await kept.make({ name: "e", cached: true });
  await kept.make({ name: "e", domain: "staging" });
  await remove("e");
  if (separately) await finish();
  await retention.deleteExecution({ id: { project: "p", domain: "staging", name: "e" } });
  await finish();
  expect(await kept.rows()).toEqual([]);
  expect(await kept.exist(kept.rawOutputsOf("e"))).toBe(2);
});

test("outputs kept for the cache stay when a later execution has the name again", async () => {
  await kept.make({ name: "e", cached: true });
  await remove("e");
  await finish();
  await kept.make({ name: "e" }, false);
  await remove("e");
  await finish();
  expect(await kept.exist(kept.rawOutputsOf("e"))).toBe(2);
});

test("a crash at any step of a deletion leaves only data that the next sweep finds", async () => {
  for (let deaths = 0; ; deaths++) {
    await kept.clear();
    const root = await kept.make({ name: "e" });
    await kept.make({ name: "c", parent: root });
    await remove("e");
    later(61);
    // A crashed process sends no further requests to the blob store and the database.
    let left = deaths;
    const calls: Promise<unknown>[] = [];
    const live =
      <Args extends unknown[], Answer>(call: (...args: Args) => Promise<Answer>) =>
      (...args: Args): Promise<Answer> => {
        const answer = left-- > 0 ? call(...args) : Promise.reject(new Error("dead"));
        calls.push(answer);
        return answer;
      };
    const dying = kept.deps({
      db: {
        ...kept.db,
        query: live((query) => kept.db.query(query)) as typeof kept.db.query,
        transaction: live((work) => kept.db.transaction(work)) as typeof kept.db.transaction,
      },
      blobs: {
        ...kept.blobs,
        delete: live((uri: string) => kept.blobs.delete(uri)),
        deleteAll: live((uris: readonly string[]) => kept.blobs.deleteAll(uris)),
      },
    });
    for (let round = 0; round < 4; round++) await workOnce(createDeletionHandler(dying), 10).catch(() => undefined);
    // Requests sent before the crash are still processed.
    await Promise.allSettled(calls);
    const survived = left > 0;
    for (const name of ["e", "c"]) {
      const { rowCount } = await kept.db.query({
        text: "SELECT 1 FROM executions e JOIN execution_deletions d ON d.execution_id = e.id WHERE execution_name = $1",
        values: [name],
      });
      const lost = rowCount === 0 && (await kept.exist(kept.blobsOf({ name }))) > 0;
      expect([deaths, name, lost]).toEqual([deaths, name, false]);
    }
    expect(await kept.orphans()).toBe(0);
    // The lease of the crashed process expires, and another process continues.
    later(121);
    await finish();
    later(3_600);
    await finish();
    expect([deaths, await kept.rows()]).toEqual([deaths, []]);
    expect(await kept.orphans()).toBe(0);
    expect(await kept.exist(["e", "c"].flatMap((name) => kept.blobsOf({ name })))).toBe(0);
    if (survived) break;
  }
});

test("a child created during the marking withdraws the deletion, and one created later is refused", async () => {
  const root = await kept.make({ name: "e" });
  await remove("e");
  const child = await kept.make({ name: "c", parent: root, phase: "RUNNING" });
  await finish();
  expect(await kept.rows()).toEqual([root, child]);
  const { rowCount } = await kept.db.query({ text: "SELECT 1 FROM execution_deletions" });
  expect(rowCount).toBe(0);
  await kept.db.query({ text: "UPDATE executions SET phase = 'FAILED' WHERE id = $1", values: [child] });
  await remove("e");
  await expect(served.admin.recoverExecution({ id: key("e"), name: "r" })).rejects.toMatchObject({ code: expect.any(Number) });
});

test("the most specific policy applies, and due executions are deleted as the preview listed", async () => {
  const days = (count: number) => ({ seconds: BigInt(count * 86_400), nanos: 0 });
  await retention.setRetentionPolicy({ policy: { keep: days(100) } });
  await retention.setRetentionPolicy({ policy: { project: "p", keep: days(30) } });
  await retention.setRetentionPolicy({ policy: { project: "p", domain: "staging" } });
  await retention.setRetentionPolicy({ policy: { project: "p", domain: "development", workflow: "short", keep: days(1) } });
  await retention.setRetentionPolicy({ policy: { project: "p", domain: "development", workflow: "long" } });
  const old = (name: string, age: number, more: Partial<Made> = {}) => kept.make({ name, age: age * 86_400, ...more });
  const ids = {
    kept: await old("kept", 29),
    due: await old("due", 31),
    short: await old("short", 2, { workflow: "short" }),
    long: await old("long", 1_000, { workflow: "long" }),
    staging: await old("staging", 1_000, { domain: "staging" }),
    elsewhere: await old("elsewhere", 99, { project: "a" }),
    elsewhereDue: await old("elsewhere-due", 101, { project: "a" }),
    running: await old("running", 1_000, { phase: "RUNNING" }),
    recovered: await old("recovered", 1_000),
  };
  await old("recovery", 1, { recovers: ids.recovered });
  const child = await old("child", 1_000, { parent: ids.kept });

  const preview = await retention.previewRetention({ project: "p", domain: "development" });
  expect(new Set(preview.deletions.map(({ id }) => id?.name))).toEqual(new Set(["due", "short"]));
  expect(preview.kept.map(({ id }) => id?.name)).toEqual(["recovered"]);
  expect(preview.more).toBe(false);
  expect((await retention.getRetentionPolicy({ project: "p", domain: "development", workflow: "x" })).policy).toMatchObject({
    project: "p",
    domain: "",
  });
  expect((await retention.listRetentionPolicies({ project: "p" })).policies).toHaveLength(4);

  expect(await sweep(kept.deps())).toBe(3);
  expect(await sweep(kept.deps())).toBe(0);
  await finish();
  const rows = await kept.rows();
  for (const id of [ids.due, ids.short, ids.elsewhereDue]) expect(rows).not.toContain(id);
  for (const id of [ids.kept, ids.long, ids.staging, ids.elsewhere, ids.running, ids.recovered, child]) expect(rows).toContain(id);
  await retention.deleteRetentionPolicy({ project: "p" });
  expect((await retention.getRetentionPolicy({ project: "p", domain: "development" })).policy?.project).toBe("");
});

/** Longest duration of protobuf, s. */
const LONGEST = 315_576_000_000n;

test("the longest duration keeps executions forever, and the sweep and the preview apply the other policies", async () => {
  const scope = { project: "a", domain: "development" };
  await retention.setRetentionPolicy({ policy: { ...scope, keep: { seconds: LONGEST, nanos: 0 } } });
  await retention.setRetentionPolicy({ policy: { ...scope, workflow: "short", keep: durationFromMs(1_000) } });
  await retention.setRetentionPolicy({ policy: { project: "p", keep: durationFromMs(1_000) } });
  const forever = await kept.make({ name: "forever", project: "a", age: 1e9 });
  await kept.make({ name: "short", project: "a", workflow: "short", age: 10 });
  await kept.make({ name: "other", age: 10 });
  expect((await retention.previewRetention(scope)).deletions.map(({ id }) => id?.name)).toEqual(["short"]);
  expect(await sweep(kept.deps())).toBe(2);
  await finish();
  expect(await kept.rows()).toEqual([forever]);
});

test("a project whose policies cannot be applied does not keep executions of others", async () => {
  await retention.setRetentionPolicy({ policy: { keep: durationFromMs(1_000) } });
  const broken = await kept.make({ name: "broken", project: "a", age: 10 });
  await kept.make({ name: "other", age: 10 });
  const failing = (error: Error): Database => ({
    ...kept.db,
    query: (query) => (query.values?.[0] === "a" ? Promise.reject(error) : kept.db.query(query)),
  });
  const errors: object[] = [];
  const logger = { ...kept.deps().logger, info: () => undefined, error: (fields: object) => errors.push(fields) } as unknown as Logger;
  expect(await sweep(kept.deps({ db: failing(new Error("out of range")), logger }))).toBe(1);
  expect(errors).toEqual([{ project: "a", domain: "development", error: "Error: out of range" }]);
  await finish();
  expect(await kept.rows()).toEqual([broken]);
  // An unavailable database ends the sweep, which is repeated.
  const unavailable = Object.assign(new Error("lost"), { code: "ECONNRESET" });
  await expect(sweep(kept.deps({ db: failing(unavailable) }))).rejects.toThrow("lost");
});

test.each([
  ["a workflow without a domain", { project: "p", workflow: "w" }],
  ["a project that does not exist", { project: "nosuch" }],
  ["a domain that does not exist", { project: "p", domain: "nosuch" }],
  ["no duration", { project: "p", keep: { seconds: 0n, nanos: 0 } }],
  ["a fraction of a second", { project: "p", keep: { seconds: 1n, nanos: 5 } }],
  ["more than the longest duration", { project: "p", keep: { seconds: LONGEST + 1n, nanos: 0 } }],
])("a policy for %s is refused", async (_, policy) => {
  await expect(retention.setRetentionPolicy({ policy })).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
});

test("executions that match the filters are deleted, and those that cannot be deleted are listed", async () => {
  await kept.make({ name: "a", phase: "FAILED" });
  await kept.make({ name: "b", phase: "FAILED", settled: false });
  await kept.make({ name: "c" });
  await expect(retention.deleteExecutions({ project: "p", domain: "development" })).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
  const request = { project: "p", domain: "development", filters: "eq(phase,FAILED)" };
  const dry = await retention.deleteExecutions({ ...request, dryRun: true });
  const { deletions, kept: stay, more } = await retention.deleteExecutions(request);
  expect(dry.deletions).toEqual(deletions);
  expect([deletions.map(({ id }) => id?.name), stay.map(({ id }) => id?.name), more]).toEqual([["a"], ["b"], false]);
  await finish();
  expect(await kept.rows()).toHaveLength(2);
});

test("old entries of the audit log are deleted in batches", async () => {
  await kept.db.query({
    text: `INSERT INTO audit_log (at, subject, client_id, method, project, domain, identifiers, request_id, peer, transport)
      SELECT $1::timestamptz - i * interval '100 days', '', '', '', '', '', '{}', '', '', '' FROM generate_series(1, 9) AS i`,
    values: [kept.now],
  });
  const metrics = retentionMetrics(new Metrics(), kept.db);
  expect(await pruneAuditLog(kept.deps(), metrics, 3)).toBe(3);
  expect(await pruneAuditLog(kept.deps(), metrics, 3)).toBe(2);
  expect((await kept.db.query({ text: "SELECT 1 FROM audit_log" })).rowCount).toBe(4);
});
