import { create, toBinary } from "@bufbuild/protobuf";
import { ExecutionError_ErrorKind as Kind, ExecutionErrorSchema } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ErrorService } from "@flyte-ts/idl/flytets/admin/v1/error_groups_pb";
import { Code, createClient } from "@flyte-ts/rpc";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { errorPattern } from "../../platform/error-pattern.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";
import { bareExecution } from "../execution/bare-execution.fixture.js";
import { findExecutionId } from "../store/execution/find.js";
import { insertExecution } from "../store/execution/insert.js";
import { writeNode } from "../store/node/written-nodes.fixture.js";

let database: AdminDatabase;
let admin: ServedAdmin;
let count = 0;
let [name, rowId]: [string, bigint] = ["", 0n];

beforeAll(async () => {
  database = await adminDatabase();
  admin = await serveAdmin({ db: database.db });
});
afterAll(async () => {
  await admin.stop();
  await database.stop();
});
beforeEach(async () => {
  name = `e${count++}`;
  await insertExecution(database.db, bareExecution(name));
  rowId = (await findExecutionId(database.db, { project: "p", domain: "d", name })) ?? 0n;
});

interface Failure {
  readonly code?: string;
  /** Time of the failure, nanoseconds. */
  readonly at?: bigint;
  readonly parent?: string;
}

const fail = (nodeId: string, message: string, { code = "USER:ValueError", at = 0n, parent }: Failure = {}): Promise<void> =>
  writeNode(database.db, rowId, {
    node_id: nodeId,
    phase: "FAILED",
    updated_ns: at,
    parent_node_id: parent ?? null,
    error: Buffer.from(toBinary(ExecutionErrorSchema, create(ExecutionErrorSchema, { code, message, kind: Kind.USER }))),
  });
const groupsOf = (id = { project: "p", domain: "d", name }) =>
  createClient({ channel: admin.channel, service: ErrorService }).getErrorGroups({ id });

test("nodes that fail alike are one group, the largest first, and each in the order of failure", async () => {
  await fail("n2", "shard 4 of 's3://c/d' is empty", { at: 2_000_000_000n });
  await fail("n0", "shard 17 of 's3://a/b' is empty", { at: 1_000_000_000n });
  await fail("n1", "the disk is full", { code: "SYSTEM:DiskFull" });
  await writeNode(database.db, rowId, { node_id: "n3", phase: "SUCCEEDED" });
  const { groups, truncated } = await groupsOf();
  expect(groups.map(({ code, count: nodes }) => [code, nodes])).toEqual([
    ["USER:ValueError", 2],
    ["SYSTEM:DiskFull", 1],
  ]);
  expect(groups[0]).toMatchObject({ message: "shard 17 of 's3://a/b' is empty", kind: Kind.USER });
  expect(groups[0]?.nodes.map(({ id, failedAt }) => [id, failedAt?.seconds])).toEqual([
    ["n0", 1n],
    ["n2", 2n],
  ]);
  expect(truncated).toBe(false);
});

test("a failed node has the name of its first attempt's task, a node without attempts has none", async () => {
  await fail("n0", "it failed");
  await fail("n1", "it failed", { at: 1n });
  for (const [attempt, task] of ["flow.fit", "flow.replaced"].entries()) {
    await database.db.query({
      text: `INSERT INTO task_executions (execution_id, node_id, project, domain, name, version, retry_attempt, revision, phase, phase_version,
          phase_order, first_ns, first_order, started_order, updated_ns)
        VALUES ($1, 'n0', 'p', 'd', $2, 'v1', $3, 1, 'FAILED', 0, 0, 0, 0, 0, 0)`,
      values: [rowId, task, attempt],
    });
  }
  const { groups } = await groupsOf();
  expect(groups.flatMap(({ nodes }) => nodes.map(({ id, task }) => [id, task]))).toEqual([
    ["n0", "flow.fit"],
    ["n1", ""],
  ]);
});

test("a node is left out when a child has failed, and stays when its children succeeded", async () => {
  await fail("dynamic", "node dn7 failed");
  await fail("dn7", "the number 7 is not supported", { parent: "dynamic" });
  await fail("map", "2 of 9 tasks failed");
  await writeNode(database.db, rowId, { node_id: "item", phase: "SUCCEEDED", parent_node_id: "map" });
  expect((await groupsOf()).groups.flatMap(({ nodes }) => nodes.map(({ id }) => id)).toSorted()).toEqual(["dn7", "map"]);
});

test("an end that was inferred has its reason", async () => {
  await writeNode(database.db, rowId, { node_id: "n0", phase: "FAILED", settled: "the resource is gone" });
  expect((await groupsOf()).groups).toMatchObject([{ code: "EndNotReported", message: "the resource is gone", kind: Kind.SYSTEM }]);
});

test("groups, nodes of a group and messages are limited, and a limit that is reached is reported", async () => {
  const error = (message: string) => Buffer.from(toBinary(ExecutionErrorSchema, create(ExecutionErrorSchema, { code: "C", message })));
  await database.db.query({
    text: `INSERT INTO node_executions (execution_id, node_id, revision, phase, phase_order, first_ns, first_order, started_order, updated_ns,
        target_order, error)
      SELECT $1, 'n' || i, 1, 'FAILED', 0, 0, 0, 0, 7, 0, $2 FROM generate_series(1, 5200) AS i`,
    values: [rowId, error("é".repeat(20_000))],
  });
  const { groups, truncated } = await groupsOf();
  expect([groups.length, groups[0]?.nodes.length, truncated]).toEqual([1, 100, true]);
  expect(groups[0]?.count).toBeGreaterThanOrEqual(400);
  expect(Buffer.byteLength(groups[0]?.message ?? "")).toBeLessThanOrEqual(16 * 1024);
  await database.db.query({ text: "DELETE FROM node_executions WHERE execution_id = $1", values: [rowId] });
  for (let code = 0; code < 60; code++) await fail(`n${code}`, "it failed", { code: `C${code}` });
  const many = await groupsOf();
  expect([many.groups.length, many.truncated]).toEqual([50, true]);
});

test("an execution without failures has no groups, an unknown one is not found", async () => {
  expect((await groupsOf()).groups).toEqual([]);
  await expect(groupsOf({ project: "p", domain: "d", name: "unknown" })).rejects.toMatchObject({ code: Code.NOT_FOUND });
});

test("patterns keep the words of a message", () => {
  expect(errorPattern("shard 4 of 's3://c/d' is empty at gs://x/y?z")).toBe("shard N of NAME is empty at URL");
  expect(errorPattern("no pod n0-0-dn7 of a1b2 found")).toBe("no pod N of N found");
  expect(errorPattern("a".repeat(10_000))).toHaveLength(4_096);
});
