import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { BlobStore } from "@flyte-ts/blobstore";
import { NodeExecution_Phase as Node, WorkflowExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import type { Bus } from "@flyte-ts/messaging";
import type { Database } from "@flyte-ts/postgres";
import type { ServiceClient } from "@flyte-ts/rpc";
import type { Closeable } from "@flyte-ts/async";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { adminConfigSchema } from "../../config.js";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { id, integer, registerLaunchPlan, registerWorkflow, scope } from "../../executions/execution/registered-workflow.fixture.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";
import { forceAborts } from "./force-abort.js";
import { MemoryKube } from "../launcher/memory-kube.fixture.js";
import { startLauncher } from "../launcher/start.js";

const logger = createLogger({ service: "test", level: "silent" });
const config = adminConfigSchema.parse({});
const bus = { publishEphemeral: () => undefined } as unknown as Bus;
const clock = () => new Date();
let database: AdminDatabase;
let db: Database;
let served: ServedAdmin;
let admin: ServiceClient<typeof AdminService>;
let kube: MemoryKube;
let launcher: Closeable;

beforeAll(async () => {
  database = await adminDatabase();
  db = database.db;
  served = await serveAdmin({ config, db, bus, clock });
  admin = served.admin;
  await registerWorkflow(admin);
  await registerLaunchPlan(admin, "l");
});
afterAll(async () => {
  await served.stop();
  await database.stop();
});
beforeEach(async () => {
  await db.query({ text: "TRUNCATE executions, execution_outbox CASCADE" });
  kube = new MemoryKube();
  const cluster = { name: "one", weight: 1, kube: kube as never };
  launcher = await startLauncher({ config, db, bus, blobs: {} as BlobStore, clusters: [cluster], clock, random: Math.random, logger });
  return () => launcher.close();
});

const key = (name: string) => ({ ...scope, name });
const create = (name: string) =>
  admin.createExecution({
    ...scope,
    name,
    spec: { launchPlan: id(ResourceType.LAUNCH_PLAN, "l") },
    inputs: { literals: { x: integer(1n) } },
  });
const closureOf = async (name: string) => (await admin.getExecution({ id: key(name) })).closure;
const resource = (name: string) => kube.objects.get(`flytesnacks-development/${name}`);
const owed = async () =>
  (await db.query<{ action: string }>({ text: "SELECT action FROM execution_outbox" })).rows.map(({ action }) => action);
const force = (deadlineMs: number) => forceAborts({ db, bus, config, clock, logger }, { deadlineMs, limit: 10 });

test("an unanswered abort takes effect at its deadline, and the resource is deleted when its data plane returns", async () => {
  await create("far");
  await vi.waitFor(() => expect(resource("far")).toBeDefined(), 30_000);
  kube.down = true;
  await admin.terminateExecution({ id: key("far"), cause: "enough" });
  expect(await force(60_000)).toBe(0);
  expect((await closureOf("far"))?.phase).toBe(Phase.ABORTING);
  expect(await force(0)).toBe(1);
  expect(await closureOf("far")).toMatchObject({
    phase: Phase.ABORTED,
    outputResult: { case: "abortMetadata", value: { cause: "enough" } },
  });
  expect(await owed()).toEqual(["abort"]);
  kube.down = false;
  await vi.waitFor(async () => expect(await owed()).toEqual([]), 30_000);
  expect(resource("far")?.metadata.deletionTimestamp).toBeDefined();
  expect(await force(0)).toBe(0);
});

test("an execution that cannot be ended does not block others", async () => {
  const names = ["refused", "other"];
  for (const name of names) await create(name);
  await vi.waitFor(() => names.forEach((name) => expect(resource(name)).toBeDefined()), 30_000);
  kube.down = true;
  for (const name of names) await admin.terminateExecution({ id: key(name), cause: "" });
  await db.query({
    text: `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
      CREATE TRIGGER refuse BEFORE UPDATE ON executions FOR EACH ROW
        WHEN (OLD.execution_name = 'refused' AND NEW.phase = 'ABORTED') EXECUTE FUNCTION refuse()`,
  });
  onTestFinished(async () => void (await db.query({ text: "DROP FUNCTION refuse CASCADE" })));
  expect(await force(0)).toBe(1);
  expect((await closureOf("refused"))?.phase).toBe(Phase.ABORTING);
  expect((await closureOf("other"))?.phase).toBe(Phase.ABORTED);
});

test("an execution that was ended before its data plane received it is not launched later", async () => {
  kube.down = true;
  await create("never");
  await admin.terminateExecution({ id: key("never"), cause: "" });
  // The launcher does the same if it retries earlier.
  await force(0);
  expect((await closureOf("never"))?.phase).toBe(Phase.ABORTED);
  kube.down = false;
  await vi.waitFor(async () => expect(await owed()).toEqual([]), 30_000);
  // A request that was prepared when the row became terminal may still be sent; the abort then
  // follows it.
  const made = resource("never");
  expect(made === undefined || made.metadata.deletionTimestamp !== undefined).toBe(true);
});

test("an event of an execution that was ended without its engine is answered with an abort", async () => {
  await create("zombie");
  await vi.waitFor(() => expect(resource("zombie")).toBeDefined(), 30_000);
  const hidden = resource("zombie") as NonNullable<ReturnType<typeof resource>>;
  kube.objects.clear();
  await admin.terminateExecution({ id: key("zombie"), cause: "" });
  await vi.waitFor(async () => expect((await closureOf("zombie"))?.phase).toBe(Phase.ABORTED), 30_000);
  await vi.waitFor(async () => expect(await owed()).toEqual([]), 30_000);
  kube.objects.set("flytesnacks-development/zombie", hidden);
  await admin.createNodeEvent({
    event: { id: { nodeId: "n0", executionId: key("zombie") }, phase: Node.RUNNING, occurredAt: timestampFromMs(1) },
  });
  await vi.waitFor(() => expect(resource("zombie")?.metadata.deletionTimestamp).toBeDefined(), 30_000);
});

test("the engine's answer before the deadline is kept", async () => {
  await create("quick");
  await vi.waitFor(() => expect(resource("quick")).toBeDefined(), 30_000);
  await admin.terminateExecution({ id: key("quick"), cause: "" });
  await admin.createWorkflowEvent({ event: { executionId: key("quick"), phase: Phase.FAILED, occurredAt: timestampFromMs(Date.now()) } });
  expect(await force(0)).toBe(0);
  expect((await closureOf("quick"))?.phase).toBe(Phase.FAILED);
});
