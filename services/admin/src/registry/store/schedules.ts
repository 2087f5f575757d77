import type { Queryable } from "@flyte-ts/postgres";
import type { FixedRate } from "@flyte-ts/idl/flyteidl/admin/schedule_pb";

export async function deleteSchedule(tx: Queryable, launchPlanRowId: bigint): Promise<void> {
  await tx.query({ text: "DELETE FROM schedules WHERE launch_plan_id = $1", values: [launchPlanRowId] });
}

export interface ScheduleInsert {
  readonly launchPlanRowId: bigint;
  /** Cron expression; empty for a fixed rate. */
  readonly cron: string;
  readonly cronOffset: string;
  readonly rate: Pick<FixedRate, "value" | "unit"> | undefined;
  /** Input that receives the time of the run; empty: none. */
  readonly kickoffInput: string;
  /** Catch-up policy; empty: the configured one. */
  readonly catchUp: string;
  readonly now: Date;
}

/** Stores a schedule unless its launch plan has one. */
export async function insertSchedule(tx: Queryable, schedule: ScheduleInsert): Promise<void> {
  const { launchPlanRowId, cron, cronOffset, rate, kickoffInput, catchUp, now } = schedule;
  await tx.query({
    text: `INSERT INTO schedules (launch_plan_id, cron_expression, cron_offset, rate_value, rate_unit, kickoff_time_input_arg, catch_up, activated_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
      ON CONFLICT (launch_plan_id) DO NOTHING`,
    values: [launchPlanRowId, cron, cronOffset, rate?.value ?? 0, rate?.unit ?? 0, kickoffInput, catchUp, now],
  });
}

export type CatchUpPolicy = (typeof policies)[number];

export const policies = ["all", "last", "none"] as const;
