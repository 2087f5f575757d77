import { create } from "@bufbuild/protobuf";
import { timestampDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { scheduledExecutionName } from "@flyte-ts/domain/name";
import { type OverdueSchedule, OverdueScheduleSchema } from "@flyte-ts/idl/flytets/admin/v1/overview_pb";
import type { ActiveSchedule } from "@flyte-ts/idl/flytets/admin/v1/schedule_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { latestOccurrence, scheduleRecurrence, TimeZones } from "@flyte-ts/schedules";
import type { Scope } from "./store/scope.js";
import { existingExecutions } from "./store/automation.js";

const DAY_MS = 86_400_000;
/** Time that the scheduler may take to create an execution. */
const GRACE_MS = 120_000;
const MAX_OVERDUE = 20;

export interface OverdueOptions {
  /** Time zone of cron expressions without one. */
  readonly zone: string;
  readonly now: Date;
}

/** Finds schedules whose latest run is due, but does not exist: the longest overdue first. */
export async function findOverdue(
  db: Queryable,
  scope: Scope,
  schedules: readonly ActiveSchedule[],
  options: OverdueOptions,
): Promise<OverdueSchedule[]> {
  const due = latestRuns(schedules, options);
  const existing = await existingExecutions(
    db,
    scope,
    due.map(({ executionName }) => executionName),
  );
  return due.filter(({ executionName }) => !existing.has(executionName)).slice(0, MAX_OVERDUE);
}

function latestRuns(schedules: readonly ActiveSchedule[], { zone, now }: OverdueOptions): readonly OverdueSchedule[] {
  const zones = new TimeZones();
  const until = now.getTime() - GRACE_MS;
  return schedules
    .flatMap(({ launchPlan, schedule, activatedAt }) => {
      if (launchPlan === undefined || schedule === undefined || activatedAt === undefined) return [];
      const from = timestampDate(activatedAt).getTime();
      const recurrence = scheduleRecurrence(schedule, { zones, zone, from });
      const after = Math.max(from, until - DAY_MS);
      const at = recurrence === undefined || after >= until ? undefined : latestOccurrence(recurrence, after, until);
      return at === undefined ? [] : [{ launchPlan, at }];
    })
    .sort((one, other) => one.at - other.at)
    .map(({ launchPlan, at }) =>
      create(OverdueScheduleSchema, {
        launchPlan,
        scheduledAt: timestampFromMs(at),
        executionName: scheduledExecutionName(launchPlan, at),
      }),
    );
}
