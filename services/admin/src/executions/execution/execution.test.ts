import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { BlobStore } from "@flyte-ts/blobstore";
import { executionRecordedSubject } from "@flyte-ts/bus-contract";
import { shardOf } from "@flyte-ts/domain/name";
import { WorkflowPhase } from "@flyte-ts/domain/phase";
import type { ExecutionSpecSchema } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { ConcurrencyLimitBehavior } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { WorkflowExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { WorkflowExecutionEventSchema } from "@flyte-ts/idl/flyteidl/event/event_pb";
import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { ExecutionRecordedSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import { KubeError } from "@flyte-ts/kubernetes";
import type { Bus } from "@flyte-ts/messaging";
import type { Database } from "@flyte-ts/postgres";
import { Code, type RpcError, type ServiceClient } from "@flyte-ts/rpc";
import type { Closeable } from "@flyte-ts/async";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { adminConfigSchema } from "../../config.js";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { MemoryKube } from "../../dispatch/launcher/memory-kube.fixture.js";
import { reconcileStale } from "../../dispatch/maintenance/reconcile.js";
import { startLauncher } from "../../dispatch/launcher/start.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";
import { id, integer, registerLaunchPlan, registerWorkflow, scope } from "./registered-workflow.fixture.js";

const logger = createLogger({ service: "test", level: "silent" });
const config = adminConfigSchema.parse({});
const clock = () => new Date();

const sent: { subject: string; data: Uint8Array }[] = [];
const bus = { publishEphemeral: (subject: string, data: Uint8Array) => sent.push({ subject, data }) } as unknown as Bus;
let kube = new MemoryKube();
const cluster = {
  name: "one",
  weight: 1,
  get kube() {
    return kube as never;
  },
};
let database: AdminDatabase;
let db: Database;
let served: ServedAdmin;
let admin: ServiceClient<typeof AdminService>;

beforeAll(async () => {
  database = await adminDatabase();
  db = database.db;
  served = await serveAdmin({ config, db, bus, clusters: [cluster], clock });
  admin = served.admin;
  await registerWorkflow(admin);
  await registerLaunchPlan(admin, "l");
});
afterAll(async () => {
  await served.stop();
  await database.stop();
});
beforeEach(() => {
  kube = new MemoryKube();
  sent.length = 0;
});

const request = (name: string, change: { spec?: MessageInitShape<typeof ExecutionSpecSchema> } = {}) => ({
  ...scope,
  name,
  spec: { launchPlan: id(ResourceType.LAUNCH_PLAN, "l") },
  inputs: { literals: { x: integer(5n) } },
  ...change,
});
const key = (name: string) => ({ ...scope, name });
const outbox = async () =>
  (
    await db.query<{ action: string; execution_name: string }>({
      text: "SELECT action, execution_name FROM execution_outbox o JOIN executions e ON e.id = o.execution_id ORDER BY o.id",
    })
  ).rows;
const phaseOf = async (name: string) => Phase[(await admin.getExecution({ id: key(name) })).closure?.phase ?? 0];
const clear = () => db.query({ text: "TRUNCATE executions, execution_outbox CASCADE" });

describe("create", () => {
  beforeEach(clear);

  test("gives the name to exactly one of many identical concurrent requests", async () => {
    const results = await Promise.allSettled(Array.from({ length: 25 }, () => admin.createExecution(request("same"))));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const refusals = results.flatMap((result) => (result.status === "rejected" ? [(result.reason as RpcError).code] : []));
    expect(refusals).toEqual(Array.from({ length: 24 }, () => Code.ALREADY_EXISTS));
    expect(await outbox()).toEqual([{ action: "launch", execution_name: "same" }]);
  });

  test("stores nothing when a tag occurs twice", async () => {
    const spec = { launchPlan: id(ResourceType.LAUNCH_PLAN, "l"), tags: ["a", "a"] };
    await expect(admin.createExecution(request("tags", { spec }))).rejects.toMatchObject({ code: Code.ALREADY_EXISTS });
    await expect(admin.getExecution({ id: key("tags") })).rejects.toMatchObject({ code: Code.NOT_FOUND });
    expect(await outbox()).toEqual([]);
  });

  test("applies the limit of a launch plan to concurrent requests", async () => {
    await registerLaunchPlan(admin, "limited", { concurrencyPolicy: { max: 3, behavior: ConcurrencyLimitBehavior.SKIP } });
    const limited = (name: string) => request(name, { spec: { launchPlan: id(ResourceType.LAUNCH_PLAN, "limited") } });
    const results = await Promise.allSettled(Array.from({ length: 12 }, (_, i) => admin.createExecution(limited(`limited-${i}`))));
    const accepted = results.flatMap((result) => (result.status === "fulfilled" ? [result.value.id?.name ?? ""] : []));
    expect(accepted).toHaveLength(3);
    await admin.createWorkflowEvent({
      event: { executionId: key(accepted[0] ?? ""), phase: Phase.SUCCEEDED, occurredAt: timestampFromMs(1) },
    });
    await admin.createExecution(limited("limited-next"));
    await expect(admin.createExecution(limited("limited-late"))).rejects.toMatchObject({ code: Code.ALREADY_EXISTS });
  });

  test("stores inputs by value, those of the caller separately from the merged ones", async () => {
    await admin.createExecution(request("inputs"));
    const { fullInputs } = await admin.getExecutionData({ id: key("inputs") });
    expect(fullInputs?.literals["x"]).toMatchObject(integer(5n));
    await admin.relaunchExecution({ id: key("inputs"), name: "again" });
    expect((await admin.getExecutionData({ id: key("again") })).fullInputs).toEqual(fullInputs);
    expect((await admin.getExecution({ id: key("again") })).spec?.metadata?.referenceExecution?.name).toBe("inputs");
  });

  test("fails an execution that no data plane accepts without sending it", async () => {
    const spec = { launchPlan: id(ResourceType.LAUNCH_PLAN, "l"), annotations: { values: { "a b": "x" } } };
    await admin.createExecution(request("refused", { spec }));
    const { closure } = await admin.getExecution({ id: key("refused") });
    expect(closure).toMatchObject({ phase: Phase.FAILED, outputResult: { case: "error", value: { code: "Internal" } } });
    expect(await outbox()).toEqual([]);
  });
});

describe("launcher", () => {
  let launcher: Closeable;

  beforeEach(async () => {
    await clear();
    launcher = await startLauncher({ config, db, bus, blobs: {} as BlobStore, clusters: [cluster], clock, random: Math.random, logger });
    return () => launcher.close();
  });

  test("creates the resource and its namespace once", async () => {
    const second = await startLauncher({
      config,
      db,
      bus,
      blobs: {} as BlobStore,
      clusters: [cluster],
      clock,
      random: Math.random,
      logger,
    });
    await Promise.all(Array.from({ length: 20 }, (_, i) => admin.createExecution(request(`e${i}`))));
    await vi.waitFor(async () => expect(await outbox()).toEqual([]), 30_000);
    await second.close();
    expect(kube.objects.size).toBe(20);
    expect(kube.creates).toBe(20);
    expect([...kube.namespaces]).toEqual(["flytesnacks-development"]);
    expect(kube.objects.get("flytesnacks-development/e0")).toMatchObject({ kind: "FlyteWorkflow", executionId: { name: "e0" } });
  });

  test("loses no execution while the data plane is unavailable", async () => {
    kube.down = true;
    await admin.createExecution(request("patient"));
    await vi.waitFor(async () => {
      const { rows } = await db.query<{ last_error: string }>({ text: "SELECT last_error FROM execution_outbox" });
      expect(rows).toEqual([{ last_error: "connection refused" }]);
    }, 30_000);
    expect(await phaseOf("patient")).toBe("UNDEFINED");
    kube.down = false;
    await vi.waitFor(async () => expect(await outbox()).toEqual([]), 30_000);
    expect(kube.objects.has("flytesnacks-development/patient")).toBe(true);
  });

  test("fails an execution that the data plane refuses, with the reason", async () => {
    kube.refuse = () => new KubeError("spec is too odd", { status: 422, reason: "Invalid" });
    await admin.createExecution(request("odd"));
    await vi.waitFor(async () => expect(await phaseOf("odd")).toBe("FAILED"), 30_000);
    const { closure } = await admin.getExecution({ id: key("odd") });
    expect(closure?.outputResult.value).toMatchObject({ message: expect.stringContaining("spec is too odd") });
    await vi.waitFor(async () => expect(await outbox()).toEqual([]), 30_000);
  });

  test("deletes the resource on terminate and leaves the end to the engine", async () => {
    await admin.createExecution(request("abort"));
    await vi.waitFor(() => expect(kube.objects.size).toBe(1), 30_000);
    await admin.terminateExecution({ id: key("abort"), cause: "enough" });
    await vi.waitFor(() => expect(kube.objects.get("flytesnacks-development/abort")?.metadata.deletionTimestamp).toBeDefined(), 30_000);
    expect(await phaseOf("abort")).toBe("ABORTING");
    await admin.createWorkflowEvent({
      event: { executionId: key("abort"), phase: Phase.ABORTED, occurredAt: timestampFromMs(Date.now()) },
    });
    const { closure } = await admin.getExecution({ id: key("abort") });
    expect(closure?.outputResult).toMatchObject({ case: "abortMetadata", value: { cause: "enough" } });
    await expect(admin.terminateExecution({ id: key("abort") })).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION });
  });

  test("accepts a repeated terminate whose first response was lost, although the execution has ended meanwhile", async () => {
    await admin.createExecution(request("twice"));
    const terminate = () => admin.terminateExecution({ id: key("twice"), cause: "enough" });
    const ended = { executionId: key("twice"), phase: Phase.ABORTED, occurredAt: timestampFromMs(Date.now()) };
    await terminate();
    await admin.createWorkflowEvent({ event: ended });
    await terminate();
    await db.query({ text: "UPDATE executions SET abort_requested_at = now() - interval '2 minutes'" });
    await expect(terminate()).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION });
  });

  test("never launches an execution that was terminated before", async () => {
    kube.down = true;
    await admin.createExecution(request("never"));
    await vi.waitFor(async () => {
      expect((await db.query<{ last_error: string }>({ text: "SELECT last_error FROM execution_outbox" })).rows[0]?.last_error).not.toBe(
        "",
      );
    }, 30_000);
    await admin.terminateExecution({ id: key("never"), cause: "" });
    kube.down = false;
    await vi.waitFor(async () => expect(await phaseOf("never")).toBe("ABORTED"), 30_000);
    await vi.waitFor(async () => expect(await outbox()).toEqual([]), 30_000);
    expect(kube.creates).toBe(0);
  });
});

describe("repair", () => {
  const blobs = { get: async () => undefined, head: async () => undefined };
  const deps = () => ({ db, bus, blobs: blobs as unknown as BlobStore, config, clock, logger, clusters: [{ ...cluster, kube }] });
  const now = { staleMs: 0, limit: 10 };

  beforeEach(clear);

  test("restores a missing outbox entry of an execution", async () => {
    await admin.createExecution(request("lost"));
    await db.query({ text: "TRUNCATE execution_outbox" });
    expect(await reconcileStale(deps(), now)).toBe(1);
    expect(await outbox()).toEqual([{ action: "launch", execution_name: "lost" }]);
  });

  /** Creates the resource of an execution. */
  async function place(name: string, status: object, labels = {}): Promise<void> {
    const { seconds = 0n } = (await admin.getExecution({ id: key(name) })).closure?.createdAt ?? {};
    const acceptedAt = new Date(Number(seconds) * 1_000).toISOString().replace(".000Z", "Z");
    kube.objects.set(`flytesnacks-development/${name}`, { metadata: { name, labels }, executionId: key(name), acceptedAt, status });
  }

  test("takes an end whose event was lost from the resource and notifies propeller", async () => {
    await admin.createExecution(request("ended"));
    await place("ended", { phase: WorkflowPhase.Failed, error: { code: "C", message: "m", kind: "USER" } });
    await reconcileStale(deps(), now);
    const { closure } = await admin.getExecution({ id: key("ended") });
    expect(closure).toMatchObject({ phase: Phase.FAILED, outputResult: { case: "error", value: { code: "C", message: "m" } } });
    expect(sent.map(({ subject, data }) => [subject, fromBinary(ExecutionRecordedSchema, data).workflowKey])).toEqual([
      [executionRecordedSubject(shardOf("ended")), "flytesnacks-development/ended"],
    ]);
  });

  const succeeded = (name: string, status: object, labels = {}) =>
    place(name, { phase: WorkflowPhase.Success, startedAt: "2026-01-01T00:00:00Z", stoppedAt: "2026-01-01T00:00:09Z", ...status }, labels);
  const outputs = create(LiteralMapSchema, { literals: { o: integer(7n) } });
  const inline = Buffer.from(toBinary(LiteralMapSchema, outputs)).toString("base64");

  test("takes outputs and start of a success whose event was lost from the resource", async () => {
    await admin.createExecution(request("small"));
    // The engine's clock is behind admin's.
    const startedAt = new Date(Date.now() - 60_000).toISOString();
    await succeeded("small", {
      startedAt,
      outputRef: "s3://b/never-written.pb",
      nodeStatus: { "end-node": { phase: 5, outputs: inline } },
    });
    await reconcileStale(deps(), now);
    expect((await admin.getExecutionData({ id: key("small") })).fullOutputs).toEqual(outputs);
    const { closure } = await admin.getExecution({ id: key("small") });
    expect(closure?.phase).toBe(Phase.SUCCEEDED);
    expect(closure?.startedAt).toEqual(closure?.createdAt);
  });

  test("leaves a success with unreadable outputs open without notifying propeller, and the late event completes it", async () => {
    await admin.createExecution(request("open"));
    await succeeded("open", { outputRef: "s3://b/never-written.pb" });
    sent.length = 0;
    await reconcileStale(deps(), now);
    expect(await phaseOf("open")).not.toBe("SUCCEEDED");
    expect(sent).toEqual([]);
    await admin.createWorkflowEvent({
      event: {
        executionId: key("open"),
        phase: Phase.SUCCEEDED,
        occurredAt: timestampFromMs(Date.now()),
        outputResult: { case: "outputData", value: outputs },
      },
    });
    expect((await admin.getExecutionData({ id: key("open") })).fullOutputs).toEqual(outputs);
  });

  test("keeps the URI of outputs in the blob store", async () => {
    await admin.createExecution(request("large"));
    await succeeded("large", { outputRef: "s3://b/written.pb" });
    const written = { ...blobs, head: async () => ({ size: 1 }) } as unknown as BlobStore;
    await reconcileStale({ ...deps(), blobs: written }, now);
    const { closure } = await admin.getExecution({ id: key("large") });
    expect(closure?.outputResult).toMatchObject({ case: "outputs", value: { data: { case: "uri", value: "s3://b/written.pb" } } });
  });

  test("fails a success whose outputs were lost with a finished resource, with the reason", async () => {
    await admin.createExecution(request("lostoutputs"));
    await succeeded("lostoutputs", { outputRef: "s3://b/never-written.pb" }, { "termination-status": "terminated" });
    await reconcileStale(deps(), now);
    await db.query({ text: "UPDATE executions SET updated_at = now() - interval '1 hour', checked_at = NULL" });
    await reconcileStale(deps(), now);
    expect(await phaseOf("lostoutputs")).not.toBe("FAILED");
    await db.query({ text: "UPDATE executions SET missing_since = now() - interval '11 minutes', checked_at = NULL" });
    await reconcileStale(deps(), now);
    const { closure } = await admin.getExecution({ id: key("lostoutputs") });
    expect(closure).toMatchObject({ phase: Phase.FAILED, outputResult: { case: "error", value: { code: "OutputsLost" } } });
  });

  test("fails a running execution only when its resource was missing at each check for ten minutes", async () => {
    await admin.createExecution(request("missing"));
    const running = { executionId: key("missing"), phase: Phase.RUNNING, occurredAt: timestampFromMs(Date.now()) };
    await admin.createWorkflowEvent({ event: running });
    await db.query({ text: "UPDATE executions SET updated_at = now() - interval '1 hour'; TRUNCATE execution_outbox" });
    const elapse = () =>
      db.query({ text: "UPDATE executions SET checked_at = NULL, missing_since = missing_since - interval '11 minutes'" });
    await reconcileStale(deps(), now);
    expect(await phaseOf("missing")).toBe("RUNNING");
    await place("missing", { phase: WorkflowPhase.Running });
    await elapse();
    await reconcileStale(deps(), now);
    kube.objects.clear();
    await elapse();
    await reconcileStale(deps(), now);
    expect(await phaseOf("missing")).toBe("RUNNING");
    await elapse();
    await reconcileStale(deps(), now);
    const { closure } = await admin.getExecution({ id: key("missing") });
    expect(closure).toMatchObject({ phase: Phase.FAILED, outputResult: { case: "error", value: { code: "ResourceVanished" } } });
  });

  test("counts the absence of a resource anew after an event of its execution", async () => {
    await admin.createExecution(request("reports"));
    const report = (phase: Phase) =>
      admin.createWorkflowEvent({ event: { executionId: key("reports"), phase, occurredAt: timestampFromMs(Date.now()) } });
    await report(Phase.QUEUED);
    await report(Phase.RUNNING);
    await db.query({ text: "UPDATE executions SET missing_since = now() - interval '1 hour'; TRUNCATE execution_outbox" });
    await reconcileStale(deps(), now);
    expect(await phaseOf("reports")).toBe("RUNNING");
  });

  test("completes an abort whose resource no longer exists", async () => {
    await admin.createExecution(request("gone"));
    await admin.terminateExecution({ id: key("gone"), cause: "c" });
    await db.query({ text: "TRUNCATE execution_outbox" });
    await reconcileStale(deps(), now);
    expect(await phaseOf("gone")).toBe("ABORTED");
  });

  test("spaces repeated checks, and changes nothing while the data plane is unavailable", async () => {
    await admin.createExecution(request("quiet"));
    await db.query({ text: "TRUNCATE execution_outbox" });
    kube.down = true;
    await db.query({ text: "UPDATE executions SET updated_at = now() - interval '1 hour'" });
    expect(await reconcileStale(deps(), { staleMs: 600_000, limit: 10 })).toBe(1);
    expect(await reconcileStale(deps(), { staleMs: 600_000, limit: 10 })).toBe(0);
    expect(await outbox()).toEqual([]);
  });
});

test("keeps ABORTING until a terminal event", async () => {
  await clear();
  await admin.createExecution(request("stands"));
  await admin.terminateExecution({ id: key("stands"), cause: "first" });
  const event = (phase: Phase) =>
    admin.createWorkflowEvent({
      event: create(WorkflowExecutionEventSchema, { executionId: key("stands"), phase, occurredAt: timestampFromMs(5) }),
    });
  await expect(event(Phase.RUNNING)).rejects.toMatchObject({ code: Code.FAILED_PRECONDITION });
  await admin.terminateExecution({ id: key("stands"), cause: "second" });
  expect((await admin.getExecution({ id: key("stands") })).closure?.outputResult.value).toMatchObject({ cause: "second" });
  await event(Phase.ABORTED);
  expect(await phaseOf("stands")).toBe("ABORTED");
});
