import { toBinary } from "@bufbuild/protobuf";
import type { BlobStore } from "@flyte-ts/blobstore";
import { literalMap, stringLiteral } from "@flyte-ts/domain/literal";
import { WorkflowPhase } from "@flyte-ts/domain/phase";
import { WorkflowExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { ExecutionRecordedSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import type { Bus } from "@flyte-ts/messaging";
import type { Database } from "@flyte-ts/postgres";
import type { ServiceClient } from "@flyte-ts/rpc";
import { createLogger } from "@flyte-ts/telemetry";
import { fromBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { adminConfigSchema } from "../../config.js";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { id, integer, registerLaunchPlan, registerWorkflow, scope } from "../../executions/execution/registered-workflow.fixture.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";
import { MemoryKube } from "../launcher/memory-kube.fixture.js";
import { startLauncher } from "../launcher/start.js";
import { reconcileStale } from "./reconcile.js";

const logger = createLogger({ service: "test", level: "silent" });
const config = adminConfigSchema.parse({});
const clock = () => new Date();
const released: string[] = [];
const bus = {
  publishEphemeral: (_: string, data: Uint8Array) => {
    const { workflowKey, phase } = fromBinary(ExecutionRecordedSchema, data);
    released.push(`${workflowKey} ${phase}`);
  },
} as unknown as Bus;
let database: AdminDatabase;
let db: Database;
let served: ServedAdmin;
let admin: ServiceClient<typeof AdminService>;
let kube: MemoryKube;

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
  released.length = 0;
});

const KEY = "flytesnacks-development/nightly";
const nightly = { ...scope, name: "nightly" };
const clusters = () => [{ name: "one", weight: 1, kube: kube as never }];
const create = () =>
  admin.createExecution({ ...nightly, spec: { launchPlan: id(ResourceType.LAUNCH_PLAN, "l") }, inputs: { literals: { x: integer(1n) } } });
const closure = async () => (await admin.getExecution({ id: nightly })).closure;
const owed = async () =>
  (await db.query<{ action: string }>({ text: "SELECT action FROM execution_outbox" })).rows.map(({ action }) => action);
const reconcile = () =>
  reconcileStale(
    { db, bus, blobs: {} as BlobStore, config, clock, logger, clusters: [{ name: "one", weight: 1, kube }] },
    { staleMs: 0, limit: 10 },
  );
async function launcher(): Promise<void> {
  const started = await startLauncher({
    config,
    db,
    bus,
    blobs: {} as BlobStore,
    clusters: clusters(),
    clock,
    random: Math.random,
    logger,
  });
  onTestFinished(() => started.close());
}

const outputs = Buffer.from(toBinary(LiteralMapSchema, literalMap([["o", stringLiteral("old")]]))).toString("base64");
const ended = { phase: WorkflowPhase.Success, nodeStatus: { "end-node": { phase: 5, outputs } } };
/** A FlyteWorkflow with the name of the execution, accepted on another day. */
function foreign(change: { readonly status?: object; readonly project?: string; readonly finalizers?: string[] } = {}): void {
  const { status = ended, project = scope.project, finalizers = [] } = change;
  kube.namespaces.add("flytesnacks-development");
  kube.objects.set(KEY, {
    metadata: { name: "nightly", namespace: "flytesnacks-development", uid: "old", finalizers },
    executionId: { ...nightly, project },
    acceptedAt: "2026-01-01T00:00:00Z",
    status,
  });
}

test("an ended FlyteWorkflow of a deleted execution gives way to the new execution of its name, which does not get its end", async () => {
  foreign();
  await create();
  await reconcile();
  expect((await closure())?.phase).toBe(Phase.UNDEFINED);
  await launcher();
  await expect.poll(owed, { timeout: 30_000 }).toEqual([]);
  await reconcile();
  expect((await closure())?.phase).toBe(Phase.UNDEFINED);
  const launched = kube.objects.get(KEY);
  expect(launched?.metadata.uid).not.toBe("old");
  expect(launched).toMatchObject({ status: { phase: WorkflowPhase.Ready }, inputs: { literals: { x: { scalar: {} } } } });
});

test("an execution waits, with the reason, for an ended FlyteWorkflow of its name whose end is not confirmed, and confirms it", async () => {
  foreign({ finalizers: ["flyte.org/finalizer"] });
  await create();
  await launcher();
  await expect.poll(() => kube.objects.get(KEY)?.metadata.deletionTimestamp, { timeout: 30_000 }).toBeDefined();
  await expect.poll(() => released, { timeout: 30_000 }).toContain(`${KEY} SUCCEEDED`);
  const reason = async () =>
    (await db.query<{ last_error: string }>({ text: "SELECT last_error FROM execution_outbox" })).rows[0]?.last_error ?? "";
  await expect.poll(reason, { timeout: 30_000 }).toContain("flytesnacks/development/nightly of 2026-01-01T00:00:00Z is being deleted");
  await reconcile();
  expect((await closure())?.phase).toBe(Phase.UNDEFINED);
  kube.objects.delete(KEY);
  await expect.poll(owed, { timeout: 30_000 }).toEqual([]);
  expect(kube.objects.get(KEY)?.metadata.deletionTimestamp).toBeUndefined();
});

test("an execution fails with the name of the active one whose FlyteWorkflow has its name, and leaves it running", async () => {
  foreign({ project: "other", status: { phase: WorkflowPhase.Running } });
  await create();
  await launcher();
  await expect.poll(async () => (await closure())?.phase, { timeout: 30_000 }).toBe(Phase.FAILED);
  const { outputResult } = (await closure()) ?? {};
  expect(outputResult?.value).toMatchObject({ message: expect.stringContaining("other/development/nightly of 2026-01-01T00:00:00Z") });
  expect(kube.objects.get(KEY)?.metadata.deletionTimestamp).toBeUndefined();
});

test("an abort does not delete the FlyteWorkflow of another execution of the same name", async () => {
  foreign({ project: "other", status: { phase: WorkflowPhase.Running } });
  await create();
  await db.query({ text: "TRUNCATE execution_outbox" });
  await admin.terminateExecution({ id: nightly, cause: "enough" });
  await launcher();
  await expect.poll(async () => (await closure())?.phase, { timeout: 30_000 }).toBe(Phase.ABORTED);
  await expect.poll(owed, { timeout: 30_000 }).toEqual([]);
  expect(kube.objects.get(KEY)?.metadata.deletionTimestamp).toBeUndefined();
});

test("an execution whose FlyteWorkflow was created before a crash is launched, although its engine has ended it", async () => {
  await create();
  await db.query({ text: "UPDATE execution_outbox SET available_at = now() + interval '1 hour'" });
  const { rows } = await db.query<{ seconds: number }>({
    text: "SELECT floor(accepted_ns / 1000000000)::float8 AS seconds FROM executions",
  });
  foreign();
  const acceptedAt = new Date((rows[0]?.seconds ?? 0) * 1_000).toISOString().replace(".000Z", "Z");
  kube.objects.set(KEY, { ...kube.objects.get(KEY), acceptedAt } as never);
  await launcher();
  await db.query({ text: "UPDATE execution_outbox SET available_at = now()" });
  await expect.poll(owed, { timeout: 30_000 }).toEqual([]);
  expect(kube.objects.get(KEY)?.metadata).toMatchObject({ uid: "old" });
  await reconcile();
  expect((await closure())?.phase).toBe(Phase.SUCCEEDED);
});
