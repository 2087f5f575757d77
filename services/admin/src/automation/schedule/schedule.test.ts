import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { LaunchPlanState } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { FixedRateUnit, type ScheduleSchema } from "@flyte-ts/idl/flyteidl/admin/schedule_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { CatchUp, ScheduleService } from "@flyte-ts/idl/flytets/admin/v1/schedule_pb";
import { Code, createClient, type ServiceClient } from "@flyte-ts/rpc";
import { afterAll, beforeAll, expect, test } from "vitest";
import { adminConfigSchema } from "../../config.js";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { id, integer, registerLaunchPlan, registerWorkflow, scope } from "../../executions/execution/registered-workflow.fixture.js";
import { CATCH_UP_ANNOTATION } from "../../registry/launch-plan/catch-up.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";

let database: AdminDatabase;
let served: ServedAdmin;
let schedules: ServiceClient<typeof ScheduleService>;
let now = new Date("2026-11-01T10:00:07.650Z");

beforeAll(async () => {
  database = await adminDatabase();
  const config = adminConfigSchema.parse({ schedules: { timeZone: "Europe/Berlin", catchUp: "none" } });
  served = await serveAdmin({ db: database.db, config, clock: () => now });
  schedules = createClient({ channel: served.channel, service: ScheduleService });
  await registerWorkflow(served.admin);
});
afterAll(async () => {
  await served.stop();
  await database.stop();
});

type Expression = MessageInitShape<typeof ScheduleSchema>["ScheduleExpression"];

function register(name: string, expression: Expression, annotations: Record<string, string> = {}): Promise<void> {
  return registerLaunchPlan(served.admin, name, {
    fixedInputs: { literals: { x: integer(1n) } },
    annotations: { values: annotations },
    entityMetadata: { schedule: { ScheduleExpression: expression } },
  });
}
const cron = (schedule: string) => ({ case: "cronSchedule" as const, value: { schedule } });
const everyTenMinutes = { case: "rate" as const, value: { value: 10, unit: FixedRateUnit.MINUTE } };
const set = (name: string, state: LaunchPlanState) => served.admin.updateLaunchPlan({ id: id(ResourceType.LAUNCH_PLAN, name), state });

test("active schedules are listed with their catch-up policies and a revision that changes with them", async () => {
  const { revision: empty, timeZone } = await schedules.listSchedules({});
  expect(timeZone).toBe("Europe/Berlin");
  await register("nightly", cron("0 3 * * *"), { [CATCH_UP_ANNOTATION]: "all" });
  await register("often", everyTenMinutes);
  expect((await schedules.listSchedules({})).revision).toBe(empty);
  await set("nightly", LaunchPlanState.ACTIVE);
  await set("often", LaunchPlanState.ACTIVE);
  const { revision, schedules: found } = await schedules.listSchedules({ knownRevision: empty });
  expect(found.map(({ launchPlan, catchUp, schedule }) => [launchPlan?.name, catchUp, schedule?.ScheduleExpression.case])).toEqual([
    ["nightly", CatchUp.ALL, "cronSchedule"],
    ["often", CatchUp.NONE, "rate"],
  ]);
  expect((await schedules.listSchedules({ knownRevision: revision })).schedules).toEqual([]);

  // Activated again, as by a repeated registration: the schedule stays unchanged.
  now = new Date("2026-11-01T10:05:00Z");
  await set("often", LaunchPlanState.ACTIVE);
  expect((await schedules.listSchedules({})).revision).toBe(revision);
  const { runs } = await schedules.listNextRuns({ ...scope, name: "often", limit: 1 });
  expect(runs.map(({ scheduledAt }) => scheduledAt && timestampDate(scheduledAt).toISOString())).toEqual(["2026-11-01T10:10:07.000Z"]);
});

test("the next runs of a domain are listed in order, in the configured time zone", async () => {
  const { runs } = await schedules.listNextRuns({ ...scope, after: timestampFromDate(new Date("2026-11-02T01:40:00Z")), limit: 4 });
  expect(runs.map(({ launchPlan, scheduledAt }) => [launchPlan?.name, scheduledAt && timestampDate(scheduledAt).toISOString()])).toEqual([
    ["often", "2026-11-02T01:40:07.000Z"],
    ["often", "2026-11-02T01:50:07.000Z"],
    ["nightly", "2026-11-02T02:00:00.000Z"],
    ["often", "2026-11-02T02:00:07.000Z"],
  ]);
  expect(runs[0]?.executionName).toMatch(/^f[0-9a-f]{16}000$/);
  expect((await schedules.listNextRuns(scope)).runs).toHaveLength(10);
  await expect(schedules.listNextRuns({ ...scope, limit: 1001 })).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
  await expect(schedules.listNextRuns({ project: "flytesnacks" })).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
});

test("a paused schedule counts from its next activation", async () => {
  const before = (await schedules.listSchedules({})).revision;
  await set("often", LaunchPlanState.INACTIVE);
  const paused = (await schedules.listSchedules({})).revision;
  expect(paused).not.toBe(before);
  expect((await schedules.listNextRuns({ ...scope, name: "often" })).runs).toEqual([]);
  now = new Date("2026-11-01T12:00:00Z");
  await set("often", LaunchPlanState.ACTIVE);
  const after = await schedules.listSchedules({});
  expect(new Set([before, paused, after.revision]).size).toBe(3);
  const { runs } = await schedules.listNextRuns({ ...scope, name: "often", limit: 1 });
  expect(runs.map(({ scheduledAt }) => scheduledAt && timestampDate(scheduledAt).toISOString())).toEqual(["2026-11-01T12:10:00.000Z"]);
});

test("an unknown catch-up policy is refused with the list of known ones", async () => {
  await expect(register("odd", everyTenMinutes, { [CATCH_UP_ANNOTATION]: "some" })).rejects.toMatchObject({
    code: Code.INVALID_ARGUMENT,
    message: "invalid value for annotation flyte-ts.org/schedule-catch-up: [some] is not one of all, last, none",
  });
});
