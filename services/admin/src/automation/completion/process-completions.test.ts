import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Notification } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { ExecutionClosureSchema, type ExecutionSpecSchema } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { ExecutionErrorSchema, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Bus } from "@flyte-ts/messaging";
import type { Database, Queryable } from "@flyte-ts/postgres";
import { Code } from "@flyte-ts/rpc";
import { afterAll, beforeAll, expect, test } from "vitest";
import { initialWorkflowState, foldWorkflow } from "@flyte-ts/execution-state";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { completionQueue } from "../../executions/index.js";
import { insertExecution } from "../../executions/store/execution/insert.js";
import { bareExecution } from "../../executions/execution/bare-execution.fixture.js";
import { id, integer, registerLaunchPlan, registerWorkflow, scope } from "../../executions/execution/registered-workflow.fixture.js";
import { loadExecutionStates, saveExecutionStates } from "../../executions/store/execution/state.js";
import { forceTerminate } from "../../dispatch/maintenance/force-abort.js";
import { notification } from "../notification/completed-execution.fixture.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";
import { processCompletions } from "./process-completions.js";

const { FAILED, RUNNING, SUCCEEDED, ABORTED } = WorkflowExecution_Phase;
let database: AdminDatabase;
let served: ServedAdmin;
beforeAll(async () => {
  database = await adminDatabase();
  served = await serveAdmin({ db: database.db, bus: { publishEphemeral: () => undefined } as unknown as Bus });
  await registerWorkflow(served.admin);
  await registerLaunchPlan(served.admin, "notified", { entityMetadata: { notifications: [notification("email", ["lp@x.y"])] } });
});
afterAll(async () => {
  await served.stop();
  await database.stop();
});

async function launch(name: string, spec: Omit<MessageInitShape<typeof ExecutionSpecSchema>, "$typeName"> = {}): Promise<void> {
  const launchPlan = id(ResourceType.LAUNCH_PLAN, "notified");
  await served.admin.createExecution({
    ...scope,
    name,
    spec: { launchPlan, metadata: {}, ...spec },
    inputs: { literals: { x: integer(1n) } },
  });
}
async function report(name: string, phase: WorkflowExecution_Phase): Promise<void> {
  const event = { executionId: { ...scope, name }, phase, occurredAt: timestampFromDate(new Date()), producerId: "propeller" };
  const error = { code: "E", message: "broken" };
  await served.admin.createWorkflowEvent({
    event: { ...event, ...(phase === FAILED && { outputResult: { case: "error" as const, value: error } }) },
  });
}
const processAll = () => processCompletions(served.deps, 100);
async function deliveries(name: string): Promise<string[]> {
  const { rows } = await database.db.query<{ text: string }>({
    text: "SELECT target || ' ' || phase AS text FROM notification_deliveries WHERE execution_name = $1 ORDER BY id",
    values: [name],
  });
  return rows.map(({ text }) => text);
}

test("notifications of the request replace those of the launch plan, and disableAll disables both", async () => {
  const mine = { notifications: [notification("email", ["me@x.y"])] };
  await launch("a-plan");
  await launch("a-own", { notificationOverrides: { case: "notifications", value: mine } });
  await launch("a-empty", { notificationOverrides: { case: "notifications", value: { notifications: [] } } });
  await launch("a-none", { notificationOverrides: { case: "disableAll", value: true } });
  await launch("a-not-none", { notificationOverrides: { case: "disableAll", value: false } });
  for (const name of ["a-plan", "a-own", "a-empty", "a-none", "a-not-none"]) await report(name, FAILED);
  expect(await processAll()).toBe(5);
  expect(await deliveries("a-plan")).toEqual(["lp@x.y FAILED"]);
  expect(await deliveries("a-own")).toEqual(["me@x.y FAILED"]);
  expect(await deliveries("a-empty")).toEqual(["lp@x.y FAILED"]);
  expect(await deliveries("a-none")).toEqual([]);
  expect(await deliveries("a-not-none")).toEqual(["lp@x.y FAILED"]);
});

test("phases without a notification are not notified", async () => {
  await launch("b");
  await report("b", RUNNING);
  expect(await processAll()).toBe(0);
  await report("b", SUCCEEDED);
  expect(await processAll()).toBe(1);
  expect(await deliveries("b")).toEqual([]);
});

test("an end is notified once, despite late events and concurrent replicas", async () => {
  for (let i = 0; i < 30; i++) {
    await launch(`c${i}`);
    await report(`c${i}`, FAILED);
  }
  // A late event changes the row of a terminal execution.
  const row = await database.db.query<{ id: bigint }>({ text: "SELECT id FROM executions WHERE execution_name = 'c0'" });
  const rowId = row.rows[0]?.id ?? 0n;
  const before = (await loadExecutionStates(database.db, [rowId])).get(rowId);
  if (before === undefined) throw new Error("no row");
  const notified = await Promise.all([processAll(), processAll(), processAll()]);
  expect(notified.reduce((sum, each) => sum + each)).toBe(30);
  const late = foldWorkflow(before.state, { phase: RUNNING, occurredAt: 5n }, 0n);
  expect(late).not.toBe(before.state);
  expect(await saveExecutionStates(database.db, [{ rowId, state: late, revision: before.revision + 1, becomesTerminal: false }])).toEqual(
    new Set([rowId]),
  );
  expect(await processAll()).toBe(0);
  for (let i = 0; i < 30; i++) expect(await deliveries(`c${i}`)).toEqual(["lp@x.y FAILED"]);
});

test("an unrecorded end is not notified, and a crash during processing loses no notification", async () => {
  await launch("d");
  const { rows } = await database.db.query<{ id: bigint }>({ text: "SELECT id FROM executions WHERE execution_name = 'd'" });
  const rowId = rows[0]?.id ?? 0n;
  const state = foldWorkflow(initialWorkflowState(1n), { phase: FAILED, occurredAt: 5n }, 0n);
  // A concurrent writer was faster: neither this write nor its completion entry is stored.
  expect(await saveExecutionStates(database.db, [{ rowId, state, revision: 9, becomesTerminal: true }])).toEqual(new Set());
  expect(await processAll()).toBe(0);
  await report("d", FAILED);
  const died = new Error("died");
  const dying = {
    ...served.deps,
    db: {
      ...database.db,
      transaction: <T>(work: (tx: typeof database.db) => Promise<T>) =>
        database.db.transaction(async (tx) => {
          await work(tx as typeof database.db);
          throw died;
        }),
    },
  };
  await expect(processCompletions(dying as never, 100)).rejects.toBe(died);
  expect(await deliveries("d")).toEqual([]);
  expect(await processAll()).toBe(1);
  expect(await deliveries("d")).toEqual(["lp@x.y FAILED"]);
});

test("ends without an event are notified: an execution refused at once, and one aborted without the engine", async () => {
  const failure = { bytes: new Uint8Array(), kind: "SYSTEM", code: "Refused" };
  await insertExecution(database.db, { ...bareExecution("e-refused"), failure });
  await launch("e-aborted");
  await served.admin.terminateExecution({ id: { ...scope, name: "e-aborted" }, cause: "enough" });
  expect(await processAll()).toBe(1);
  await forceTerminate(served.deps, { ...scope, name: "e-aborted" });
  expect(await processAll()).toBe(1);
  // The engine's terminal event arrives later.
  await expect(report("e-aborted", ABORTED)).rejects.toThrow("already recorded");
  expect(await processAll()).toBe(0);
});

test("an unreadable execution does not prevent the notification of others", async () => {
  const failure = { bytes: new Uint8Array(), kind: "SYSTEM", code: "Refused" };
  await insertExecution(database.db, { ...bareExecution("f-broken"), closure: Buffer.from("no message"), failure });
  await launch("f-good");
  await report("f-good", FAILED);
  expect(await processAll()).toBe(2);
  expect(await deliveries("f-good")).toEqual(["lp@x.y FAILED"]);
  expect(await processAll()).toBe(0);
});

const large = { code: "Refused", bytes: new Uint8Array(), kind: "SYSTEM" };

/** Stores a failed execution as an earlier version did, whose notifications had no limits. */
async function insertUnlimited(name: string, notifications: readonly Notification[], message = ""): Promise<void> {
  const closure = toBinary(ExecutionClosureSchema, create(ExecutionClosureSchema, { notifications: [...notifications] }));
  const bytes = toBinary(ExecutionErrorSchema, create(ExecutionErrorSchema, { message }));
  await insertExecution(database.db, { ...bareExecution(name), closure, failure: { ...large, bytes } });
}

test("an oversized notification does not prevent those of other executions, and reaches its first recipients", async () => {
  const template = "<p>".padEnd(1_000_000, "x");
  const addresses = Array.from({ length: 600 }, (_, index) => `${index}@x.y`);
  await insertUnlimited("g-large", [notification("email", addresses, { template })]);
  await launch("g-good");
  await report("g-good", FAILED);
  expect(await processAll()).toBe(2);
  expect(await deliveries("g-good")).toEqual(["lp@x.y FAILED"]);
  expect(await deliveries("g-large")).toEqual(addresses.slice(0, 100).map((address) => `${address} FAILED`));
  // The configured text replaces the template.
  const { rows } = await database.db.query({
    text: "SELECT max(length(content)) < 1000 AS short FROM notification_deliveries WHERE execution_name = 'g-large'",
  });
  expect(rows).toEqual([{ short: true }]);
});

test("an execution whose notifications cannot be planned is skipped, and those of others are sent", async () => {
  const emailer = { ...served.deps.config.notifications.emailer, body: "{{ error }}".repeat(1_000) };
  const notifications = { ...served.deps.config.notifications, emailer };
  await insertUnlimited("h-broken", [notification("email", ["a@x.y"])], "broken".repeat(1_000));
  await launch("h-good");
  await report("h-good", FAILED);
  expect(await processCompletions({ ...served.deps, config: { ...served.deps.config, notifications } }, 100)).toBe(2);
  expect(await deliveries("h-broken")).toEqual([]);
  expect(await deliveries("h-good")).toEqual(["lp@x.y FAILED"]);
  expect(await processAll()).toBe(0);
});

test("contents of many megabytes are stored in parts", async () => {
  const template = "<p>".padEnd(65_536, "x");
  const addresses = Array.from({ length: 100 }, (_, index) => `${index}@x.y`);
  for (let i = 0; i < 3; i++) await insertUnlimited(`i${i}`, [notification("email", addresses, { template })]);
  const sizes: number[] = [];
  const counting = (tx: Queryable): Queryable => ({
    query: (statement) => {
      if (statement.name === "insert-deliveries") sizes.push(((statement.values ?? []).at(-1) as string[]).join("").length);
      return tx.query(statement);
    },
  });
  const db: Database = { ...database.db, transaction: (work) => database.db.transaction((tx) => work(counting(tx))) };
  expect(await processCompletions({ ...served.deps, db }, 100)).toBe(3);
  expect(sizes.length).toBeGreaterThan(3);
  expect(Math.max(...sizes)).toBeLessThan(5 << 20);
  for (let i = 0; i < 3; i++) expect(await deliveries(`i${i}`)).toHaveLength(100);
});

test("ends of large executions are claimed in parts", async () => {
  for (const name of ["j1", "j2", "j3"]) await insertUnlimited(name, [notification("email", ["x".repeat(1_000)])]);
  const claim = (maxBytes: number) => database.db.transaction((tx) => completionQueue.claimCompletions(tx, { limit: 10, maxBytes }));
  expect((await claim(1)).map(({ execution_name: name }) => name)).toEqual(["j1"]);
  expect((await claim(1_500)).map(({ execution_name: name }) => name)).toEqual(["j2", "j3"]);
  expect(await claim(1_500)).toEqual([]);
});

test.each([
  [
    "recipients_email: 101 recipients in all notifications, at most 100",
    [notification("email", Array<string>(50).fill("a@x.y")), notification("slack", Array<string>(51).fill("b@x.y"))],
  ],
  ["recipients_email: a recipient has more than 2048 bytes", [notification("email", ["a".repeat(2_049)])]],
  [
    "template: 65537 bytes in all notifications, at most 65536",
    [notification("email", ["a@x.y"], { template: "x".repeat(65_536) }), notification("email", ["a@x.y"], { template: "x" })],
  ],
])("a request whose notifications are too large is refused: %s", async (problem, notifications) => {
  const refused = { code: Code.INVALID_ARGUMENT, message: expect.stringContaining(`invalid value for ${problem}`) };
  await expect(launch("k", { notificationOverrides: { case: "notifications", value: { notifications } } })).rejects.toMatchObject(refused);
  await expect(registerLaunchPlan(served.admin, "large", { entityMetadata: { notifications } })).rejects.toMatchObject(refused);
});
