import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type FixedRateUnit, type Schedule, ScheduleSchema } from "@flyte-ts/idl/flyteidl/admin/schedule_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type ActiveSchedule, ActiveScheduleSchema, CatchUp } from "@flyte-ts/idl/flytets/admin/v1/schedule_pb";
import type { Queryable } from "@flyte-ts/postgres";
import type { RegistryConfig } from "../config.js";
import type { CatchUpPolicy } from "./schedules.js";

interface Row {
  project: string;
  domain: string;
  name: string;
  version: string;
  cron_expression: string;
  cron_offset: string;
  rate_value: bigint;
  rate_unit: FixedRateUnit;
  kickoff_time_input_arg: string;
  catch_up: CatchUpPolicy | "";
  activated_at: Date;
}

/** Filter for schedules; empty: all. */
export interface ScheduleScope {
  readonly project?: string;
  readonly domain?: string;
  readonly name?: string;
}

/** Finds the active schedules, in order of the ids of their rows. */
export async function findActiveSchedules(
  db: Queryable,
  config: Pick<RegistryConfig, "schedules">,
  { project, domain, name }: ScheduleScope = {},
): Promise<ActiveSchedule[]> {
  const { rows } = await db.query<Row>({
    name: "find-schedules",
    text: `SELECT l.project, l.domain, l.name, l.version, s.cron_expression, s.cron_offset, s.rate_value, s.rate_unit,
        s.kickoff_time_input_arg, s.catch_up, s.activated_at
      FROM schedules s JOIN launch_plans l ON l.id = s.launch_plan_id
      WHERE ($1::text IS NULL OR l.project = $1) AND ($2::text IS NULL OR l.domain = $2) AND ($3::text IS NULL OR l.name = $3)
      ORDER BY s.launch_plan_id`,
    values: [project, domain, name],
  });
  return rows.map((row) =>
    create(ActiveScheduleSchema, {
      launchPlan: {
        resourceType: ResourceType.LAUNCH_PLAN,
        project: row.project,
        domain: row.domain,
        name: row.name,
        version: row.version,
      },
      schedule: scheduleOf(row),
      activatedAt: timestampFromDate(row.activated_at),
      catchUp: catchUpOf(row.catch_up || config.schedules.catchUp),
    }),
  );
}

/**
 * Returns a text that changes whenever the result of `findActiveSchedules` does. It hashes the
 * whole table, since no counter would change when a row is deleted.
 */
export async function scheduleRevision(db: Queryable, { schedules }: Pick<RegistryConfig, "schedules">): Promise<string> {
  const { rows } = await db.query<{ hash: string }>({
    name: "schedule-revision",
    text: `SELECT coalesce(md5(string_agg(launch_plan_id || '@' || extract(epoch FROM activated_at), ',' ORDER BY launch_plan_id)), '') AS hash
      FROM schedules`,
  });
  return [rows[0]?.hash ?? "", schedules.timeZone, schedules.catchUp].join(" ");
}

function scheduleOf(row: Row): Schedule {
  const ScheduleExpression: MessageInitShape<typeof ScheduleSchema>["ScheduleExpression"] =
    row.cron_expression === ""
      ? { case: "rate", value: { value: Number(row.rate_value), unit: row.rate_unit } }
      : { case: "cronSchedule", value: { schedule: row.cron_expression, offset: row.cron_offset } };
  return create(ScheduleSchema, { ScheduleExpression, kickoffTimeInputArg: row.kickoff_time_input_arg });
}

function catchUpOf(policy: CatchUpPolicy): CatchUp {
  switch (policy) {
    case "all":
      return CatchUp.ALL;
    case "last":
      return CatchUp.LAST;
    case "none":
      return CatchUp.NONE;
  }
}
