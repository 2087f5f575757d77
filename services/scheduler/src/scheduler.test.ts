import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { systemTime } from "@flyte-ts/async";
import { ManualTime } from "@flyte-ts/async/manual-time";
import { scheduledExecutionName } from "@flyte-ts/domain/name";
import { type ExecutionCreateRequest, ExecutionMetadata_ExecutionMode } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { InactiveProjectSchema } from "@flyte-ts/idl/flyteidl/admin/project_pb";
import { FixedRateUnit } from "@flyte-ts/idl/flyteidl/admin/schedule_pb";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { type ActiveSchedule, ActiveScheduleSchema, CatchUp, ScheduleService } from "@flyte-ts/idl/flytets/admin/v1/schedule_pb";
import type { Database } from "@flyte-ts/postgres";
import { Code, createRpcServer, implement, openChannel, RpcError } from "@flyte-ts/rpc";
import { createLogger, Metrics } from "@flyte-ts/telemetry";
import { type MigratedDatabase, migratedDatabase } from "@flyte-ts/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AdminClient, createAdminClient } from "./admin-client.js";
import { schedulerConfigSchema } from "./config.js";
import { schedulerMetrics } from "./metrics.js";
import { createWatermarkStore, type WatermarkStore } from "./watermark-store.js";
import { Scheduler } from "./scheduler.js";

const logger = createLogger({ service: "test", level: "silent" });
const stops: (() => Promise<void>)[] = [];
let database: MigratedDatabase;
let db: Database;

// A fake admin with schedules.
let revision = 0;
let schedules: ActiveSchedule[] = [];
const requests = new Map<string, ExecutionCreateRequest[]>();
let failure: ((request: ExecutionCreateRequest) => RpcError | undefined) | undefined;
const executions = new Set<string>();
let endpoint: string;

beforeAll(async () => {
  database = await migratedDatabase(fileURLToPath(new URL("../migrations", import.meta.url)));
  ({ db } = database);
  const admin = implement(AdminService, {
    createExecution(request) {
      const of = request.spec?.launchPlan?.name ?? "";
      requests.set(of, [...(requests.get(of) ?? []), request]);
      const error = failure?.(request);
      if (error !== undefined) throw error;
      if (executions.has(request.name)) throw new RpcError(Code.ALREADY_EXISTS, "there already");
      executions.add(request.name);
      return {};
    },
  });
  const schedule = implement(ScheduleService, {
    listSchedules: ({ knownRevision }) => ({
      revision: String(revision),
      schedules: knownRevision === String(revision) ? [] : schedules,
      timeZone: "UTC",
    }),
  });
  const server = createRpcServer({ logger, services: [admin, schedule] });
  const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
  endpoint = `127.0.0.1:${port}`;
  stops.push(() => server.drain({ deadlineMs: 100 }));
});
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop();
  await database.stop();
});

async function replica(): Promise<Scheduler> {
  const config = schedulerConfigSchema.parse({ refreshMs: 200, admin: { endpoint } });
  const channel = openChannel({ endpoint });
  const scheduler = new Scheduler({
    config,
    admin: createAdminClient({ channel, logger }),
    watermarks: createWatermarkStore({ db, replica: randomUUID(), claimMs: config.claimMs }),
    clock: systemTime,
    random: Math.random,
    metrics: schedulerMetrics(new Metrics()),
    logger,
  });
  scheduler.start();
  stops.push(async () => {
    await scheduler.stop();
    channel.close();
  });
  return scheduler;
}

function activate(name: string, change: Omit<MessageInitShape<typeof ActiveScheduleSchema>, "$typeName">): void {
  schedules = [
    ...schedules.filter(({ launchPlan }) => launchPlan?.name !== name),
    create(ActiveScheduleSchema, {
      launchPlan: { project: "p", domain: "d", name, version: "v" },
      activatedAt: timestampFromMs(Date.now()),
      catchUp: CatchUp.LAST,
      ...change,
    }),
  ];
  revision++;
}
const everySecond = { schedule: { ScheduleExpression: { case: "cronSchedule" as const, value: { schedule: "@every 1s" } } } };
const timesOf = (name: string) =>
  (requests.get(name) ?? []).map(({ spec }) => timestampMs(spec?.metadata?.scheduledAt ?? timestampFromMs(0)));

test("three replicas on one database start each run once, in order", async () => {
  const replicas = await Promise.all([replica(), replica(), replica()]);
  await expect.poll(() => replicas.map(({ problem }) => problem)).toEqual([undefined, undefined, undefined]);
  activate("often", { ...everySecond, schedule: { ...everySecond.schedule, kickoffTimeInputArg: "when" } });
  await expect.poll(() => timesOf("often").length, { timeout: 10_000 }).toBeGreaterThanOrEqual(4);
  const times = timesOf("often");
  expect(times).toEqual(times.map((_, i) => (times[0] as number) + i * 1000));
  const [request] = requests.get("often") ?? [];
  const launchPlan = { project: "p", domain: "d", name: "often", version: "v" };
  expect(request).toMatchObject({
    project: "p",
    domain: "d",
    name: scheduledExecutionName(launchPlan, times[0] as number),
    spec: { launchPlan, metadata: { mode: ExecutionMetadata_ExecutionMode.SCHEDULED, principal: "" } },
  });
  const literal = request?.inputs?.literals.when?.value;
  const kickoff = literal?.case === "scalar" && literal.value.value.case === "primitive" ? literal.value.value.value.value : undefined;
  expect(kickoff).toMatchObject({ case: "datetime", value: timestampFromMs(times[0] as number) });
  schedules = [];
  revision++;
  await expect.poll(() => replicas.map(({ schedules: known }) => known)).toEqual([0, 0, 0]);
  const after = timesOf("often").length;
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(timesOf("often")).toHaveLength(after);
  const { rows } = await db.query<{ done_through: Date }>({ text: "SELECT done_through FROM progress WHERE name = 'often'" });
  expect(rows[0]?.done_through.getTime()).toBe(timesOf("often").at(-1));
});

test("admin's response decides whether a run is retried", async () => {
  let failures = 2;
  failure = ({ spec }) => {
    switch (spec?.launchPlan?.name) {
      case "trouble":
        return failures-- > 0 ? new RpcError(Code.UNAVAILABLE, "not now") : undefined;
      case "inactive":
        return new RpcError(Code.INVALID_ARGUMENT, "inactive", {
          details: [{ schema: InactiveProjectSchema, message: create(InactiveProjectSchema, { id: "p" }) }],
        });
      case "wrong":
        return new RpcError(Code.INVALID_ARGUMENT, "wrong inputs");
      default:
        return undefined;
    }
  };
  await replica();
  const activatedAt = timestampFromMs(Date.now() - 60_500);
  const everyMinute = {
    activatedAt,
    schedule: { ScheduleExpression: { case: "rate" as const, value: { value: 1, unit: FixedRateUnit.MINUTE } } },
  };
  for (const name of ["trouble", "inactive", "wrong"]) activate(name, everyMinute);
  await expect.poll(() => requests.get("trouble")?.length, { timeout: 10_000 }).toBe(3);
  expect(new Set(requests.get("trouble")?.map(({ name }) => name)).size).toBe(1);
  await expect
    .poll(
      async () =>
        (
          await db.query({
            text: "SELECT name FROM progress WHERE done_through > activated_at AND claimed_by IS NULL AND name IN ('trouble', 'inactive', 'wrong')",
          })
        ).rows,
      {
        timeout: 10_000,
      },
    )
    .toHaveLength(3);
  expect([requests.get("inactive")?.length, requests.get("wrong")?.length]).toEqual([1, 1]);
});

test("a schedule without a watermark is started anew, and a reactivated one counts from its activation", async () => {
  await replica();
  activate("lost", everySecond);
  const more = async () => {
    const before = timesOf("lost").length;
    await expect.poll(() => timesOf("lost").length, { timeout: 15_000 }).toBeGreaterThan(before + 1);
  };
  await more();
  await db.query({ text: "DELETE FROM progress WHERE name = 'lost'" });
  await more();
  const again = Date.now() + 500;
  activate("lost", { ...everySecond, activatedAt: timestampFromMs(again) });
  await more();
  const { rows } = await db.query<{ activated_at: Date }>({ text: "SELECT activated_at FROM progress WHERE name = 'lost'" });
  expect(rows[0]?.activated_at.getTime()).toBe(again);
});

test.each([
  ["was recorded by a clock that was a day ahead", 86_400_000],
  ["is lost to a restored database of admin", -1_000],
])("a schedule runs though its activation is earlier than one that %s", async (_, aheadMs) => {
  await replica();
  const name = `back-${aheadMs}`;
  activate(name, { ...everySecond, activatedAt: timestampFromMs(Date.now() + aheadMs) });
  const recorded = async () => {
    const { rows } = await db.query<{ activated_at: Date }>({ text: "SELECT activated_at FROM progress WHERE name = $1", values: [name] });
    return rows[0]?.activated_at.getTime();
  };
  await expect.poll(recorded, { timeout: 15_000 }).toBeDefined();
  const corrected = Date.now() - 3_000;
  activate(name, { ...everySecond, activatedAt: timestampFromMs(corrected) });
  await expect.poll(recorded, { timeout: 15_000 }).toBe(corrected);
  await expect.poll(() => timesOf(name).at(-1) ?? 0, { timeout: 15_000 }).toBeGreaterThan(Date.now());
});

test("counts the silence of an admin that has never answered", async () => {
  const clock = new ManualTime();
  const scheduler = new Scheduler({
    config: schedulerConfigSchema.parse({}),
    admin: { listIfChanged: () => Promise.reject(new Error("unauthenticated")) } as unknown as AdminClient,
    watermarks: {} as WatermarkStore,
    clock,
    random: () => 0,
    metrics: schedulerMetrics(new Metrics()),
    logger,
  });
  scheduler.start();
  await clock.advance(180_000);
  expect(scheduler.listAgeMs).toBe(180_000);
  await scheduler.stop();
});
