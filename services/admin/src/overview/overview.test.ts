import { create, toBinary } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate, timestampMs } from "@bufbuild/protobuf/wkt";
import {
  ExecutionError_ErrorKind as Kind,
  ExecutionErrorSchema,
  WorkflowExecution_Phase as Phase,
} from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { LiteralTypeSchema, SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { OverviewService } from "@flyte-ts/idl/flytets/admin/v1/overview_pb";
import { Code, createClient } from "@flyte-ts/rpc";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type AdminDatabase, adminDatabase } from "../database.fixture.js";
import { id, registerLaunchPlan, registerWorkflow, scope as registered } from "../executions/execution/registered-workflow.fixture.js";
import { bareExecution } from "../executions/execution/bare-execution.fixture.js";
import { insertExecution } from "../executions/store/execution/insert.js";
import { SignalStore } from "../executions/store/signals.js";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type ServedAdmin, serveAdmin } from "../served-admin.fixture.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
let database: AdminDatabase;
let admin: ServedAdmin;
let [now, day] = [new Date(), 0];

beforeAll(async () => {
  database = await adminDatabase();
  admin = await serveAdmin({ db: database.db, clock: () => now });
});
afterAll(async () => {
  await admin.stop();
  await database.stop();
});
// Each test has a day of its own, so that no answer of another test is repeated.
beforeEach(async () => {
  now = new Date(Date.UTC(2031, 0, (day += 2), 12, 1));
  await database.db.query({ text: "DELETE FROM execution_outbox" });
  await database.db.query({ text: "TRUNCATE executions, signals, triggers CASCADE" });
});

interface Given {
  readonly phase?: string;
  readonly workflow?: string;
  /** Age of the execution, ms. */
  readonly age?: number;
  readonly error?: { readonly message: string; readonly code?: string };
  readonly notice?: string;
  readonly isArchived?: boolean;
}

/** Stores an execution that started 200 ms after its acceptance and ran for a minute. */
async function given(
  name: string,
  { phase = "SUCCEEDED", workflow = "w", age = 0, error, notice = "", isArchived = false }: Given = {},
): Promise<void> {
  const at = new Date(now.getTime() - age);
  await insertExecution(database.db, { ...bareExecution(name), workflowName: workflow });
  const isOpen = phase === "RUNNING" || phase === "QUEUED";
  const encoded =
    error && toBinary(ExecutionErrorSchema, create(ExecutionErrorSchema, { code: "USER:ValueError", kind: Kind.USER, ...error }));
  await database.db.query({
    text: `UPDATE executions SET phase = $2, created_at = $3, accepted_ns = $4, started_ns = $4::bigint + 200000000, duration = 60000000000,
        ended_ns = CASE WHEN $5 THEN NULL ELSE $4::bigint + 60200000000 END, error = $6, notice = $7, notice_ns = CASE WHEN $7 = '' THEN NULL ELSE $4::bigint END,
        state = $8 WHERE execution_name = $1`,
    values: [name, phase, at, BigInt(at.getTime()) * 1_000_000n, isOpen, encoded && Buffer.from(encoded), notice, isArchived ? 1 : 0],
  });
}
const overview = (request: { readonly project?: string; readonly domain?: string; readonly hours?: number } = {}) =>
  createClient({ channel: admin.channel, service: OverviewService }).getOverview({ project: "p", domain: "d", ...request });

test("executions count by quarter of an hour and by what became of them, and in the period before", async () => {
  await given("a");
  await given("b", { phase: "FAILED", age: 2 * HOUR });
  await given("c", { phase: "TIMED_OUT", age: 2 * HOUR + MINUTE });
  await given("e", { phase: "ABORTED", age: 3 * HOUR });
  await given("f", { phase: "RUNNING", age: 4 * HOUR });
  await given("g", { phase: "SUCCEEDED", age: 30 * HOUR });
  const { open, period, previousPeriod, bucket, buckets, truncated } = await overview();
  expect([open, truncated, bucket?.seconds]).toEqual([1, false, 900n]);
  expect(period).toMatchObject({ succeeded: 1, failed: 2, aborted: 1, open: 1 });
  expect(previousPeriod).toMatchObject({ succeeded: 1, failed: 0, aborted: 0, open: 0 });
  const shown = buckets.map(({ startsAt, totals }) => [startsAt && timestampDate(startsAt).toISOString().slice(11, 16), totals?.failed]);
  expect(shown).toEqual([
    ["08:00", 0],
    ["09:00", 0],
    ["10:00", 2],
    ["12:00", 0],
  ]);
});

test("a longer period has wider buckets", async () => {
  await given("a", { age: 100 * HOUR });
  expect((await overview()).period).toMatchObject({ succeeded: 0 });
  const { period, bucket } = await overview({ hours: 168 });
  expect([period?.succeeded, bucket?.seconds]).toEqual([1, 7_200n]);
});

test("failures are grouped by workflow and error, without archived ones, and tell whether a later run succeeded", async () => {
  await given("a", { phase: "FAILED", workflow: "train", age: 3 * MINUTE, error: { message: "shard 4 of 's3://a' is empty" } });
  await given("b", { phase: "FAILED", workflow: "train", age: 2 * MINUTE, error: { message: "shard 17 of 's3://b' is empty" } });
  await given("c", { phase: "FAILED", workflow: "score", age: 9 * MINUTE, error: { message: "the disk is full", code: "SYSTEM:Disk" } });
  await given("e", { phase: "SUCCEEDED", workflow: "score", age: MINUTE });
  await given("f", { phase: "FAILED", workflow: "score", error: { message: "seen" }, isArchived: true });
  await given("g", { phase: "FAILED", workflow: "score", age: 25 * HOUR, error: { message: "old" } });
  const { failures } = await overview();
  expect(failures).toMatchObject([
    {
      workflow: "train",
      code: "USER:ValueError",
      kind: Kind.USER,
      message: "shard 17 of 's3://b' is empty",
      count: 2,
      executions: ["b", "a"],
      succeededSince: false,
    },
    { workflow: "score", code: "SYSTEM:Disk", count: 1, executions: ["c"], succeededSince: true },
  ]);
});

test("a long message is cut at a character", async () => {
  await given("a", { phase: "FAILED", error: { message: "é".repeat(30_000) } });
  const { failures } = await overview();
  expect(failures[0]?.message).toMatch(/^é{2000,2048}$/);
});

test("signals without a value of open executions are pending", async () => {
  const type = toBinary(LiteralTypeSchema, create(LiteralTypeSchema, { type: { case: "simple", value: SimpleType.BOOLEAN } }));
  const store = new SignalStore(database.db);
  const signal = (name: string, signalId: string) =>
    ({ signalId, executionId: { project: "p", domain: "d", name } }) as Parameters<SignalStore["findToSet"]>[0];
  await given("a", { phase: "RUNNING", workflow: "release" });
  await given("b");
  for (const each of [signal("a", "go"), signal("a", "done"), signal("b", "go")]) await store.getOrInsert(each, type);
  await store.setValue(signal("a", "done"), new Uint8Array([1]));
  const { signals } = await overview();
  expect(signals).toMatchObject([{ execution: "a", workflow: "release", signalId: "go", type: { type: { value: SimpleType.BOOLEAN } } }]);
});

test("open executions that wait are grouped by their reason", async () => {
  await given("a", { phase: "QUEUED", age: 2 * MINUTE, notice: "the data plane gpu-west has 0 of 8 GPUs free" });
  await given("b", { phase: "QUEUED", age: MINUTE, notice: "the data plane gpu-west has 1 of 8 GPUs free" });
  await given("c", { phase: "QUEUED", age: MINUTE, notice: "the quota of the project is used up" });
  await given("e", { notice: "ended in the meantime" });
  const { waits, open } = await overview();
  expect(open).toBe(3);
  expect(waits.map(({ reason, count, executions }) => [reason, count, executions])).toEqual([
    ["the data plane gpu-west has 0 of 8 GPUs free", 2, ["a", "b"]],
    ["the quota of the project is used up", 1, ["c"]],
  ]);
});

test("workflows have their last 24 runs, the latest workflow first, and their start delays", async () => {
  for (let run = 0; run < 26; run++) await given(`t${run}`, { workflow: "train", age: run * HOUR });
  await given("s", { workflow: "score", phase: "RUNNING", age: MINUTE });
  const { workflows, medianStartDelay, p99StartDelay } = await overview();
  expect(workflows.map(({ name, runs }) => [name, runs.length])).toEqual([
    ["train", 24],
    ["score", 1],
  ]);
  expect(workflows[0]?.runs.at(-1)).toMatchObject({ execution: "t0", phase: Phase.SUCCEEDED, duration: { seconds: 60n } });
  expect(workflows[1]?.runs[0]?.duration).toBeUndefined();
  expect([medianStartDelay?.nanos, p99StartDelay?.nanos]).toEqual([200_000_000, 200_000_000]);
});

test("refused firings count by trigger", async () => {
  const { db } = database;
  await db.query({
    text: `INSERT INTO triggers (project, domain, name, trigger, target_project, target_domain) VALUES ('p', 'd', 'on-upload', '', 'p', 'd')`,
  });
  await db.query({
    text: `INSERT INTO trigger_firings (trigger_id, cause, happened_at, execution_project, execution_domain, execution_name, depth, state, reason, ended_at)
      SELECT t.id, 'c' || i, $1, 'p', 'd', 'x' || i, 1, CASE WHEN i < 3 THEN 'refused' ELSE 'started' END, 'reason ' || i, $1::timestamptz - i * interval '1 minute'
      FROM triggers t, generate_series(1, 4) AS i`,
    values: [now],
  });
  const { refusedFirings } = await overview();
  expect(refusedFirings).toMatchObject([
    { trigger: "on-upload", count: 2, reason: "reason 1", lastAt: timestampFromDate(new Date(now.getTime() - MINUTE)) },
  ]);
});

test("a schedule is overdue when the execution of its latest run does not exist", async () => {
  const { admin: client } = admin;
  await registerWorkflow(client);
  await registerLaunchPlan(client, "hourly", {
    entityMetadata: { schedule: { ScheduleExpression: { case: "cronSchedule", value: { schedule: "30 * * * *", offset: "" } } } },
    fixedInputs: {
      literals: {
        x: { value: { case: "scalar", value: { value: { case: "primitive", value: { value: { case: "integer", value: 1n } } } } } },
      },
    },
  });
  await client.updateLaunchPlan({ id: id(ResourceType.LAUNCH_PLAN, "hourly"), state: 1 });
  await database.db.query({ text: "UPDATE schedules SET activated_at = $1", values: [new Date(now.getTime() - 3 * HOUR)] });
  const { overdueSchedules, nextRuns } = await overview(registered);
  const [overdue] = overdueSchedules;
  expect(overdue?.launchPlan?.name).toBe("hourly");
  expect(overdue?.scheduledAt && timestampMs(overdue.scheduledAt)).toBe(now.getTime() - 31 * MINUTE);
  expect(
    nextRuns.map(({ launchPlan, scheduledAt }) => [launchPlan?.name, scheduledAt && timestampMs(scheduledAt) - now.getTime()]),
  ).toEqual([["hourly", 29 * MINUTE]]);
  await insertExecution(database.db, { ...bareExecution(overdue?.executionName ?? ""), ...registered });
  now = new Date(now.getTime() + 10_000);
  expect((await overview(registered)).overdueSchedules).toEqual([]);
});

test("an answer is repeated for five seconds", async () => {
  expect((await overview()).open).toBe(0);
  await given("a", { phase: "RUNNING" });
  expect((await overview()).open).toBe(0);
  now = new Date(now.getTime() + 5_000);
  expect((await overview()).open).toBe(1);
});

test("an unknown project is empty; a request without one, or of too long a period, is invalid", async () => {
  expect(await overview({ project: "unknown" })).toMatchObject({ open: 0, workflows: [], buckets: [] });
  await expect(overview({ project: "" })).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
  await expect(overview({ hours: 169 })).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
});
