import { create } from "@bufbuild/protobuf";
import { timestampDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { scheduledExecutionName } from "@flyte-ts/domain/name";
import { type Recurrence, scheduleRecurrence, TimeZones } from "@flyte-ts/schedules";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type ActiveSchedule, type NextRun, NextRunSchema } from "@flyte-ts/idl/flytets/admin/v1/schedule_pb";

interface Upcoming {
  readonly launchPlan: Identifier;
  readonly recurrence: Recurrence;
  at: number;
}

export interface NextRunsOptions {
  /** Time zone of cron expressions without one. */
  readonly zone: string;
  /** Ms since the epoch; exclusive. */
  readonly after: number;
  readonly limit: number;
}

/** Returns the first runs of all these schedules in order of time. */
export function nextRuns(schedules: readonly ActiveSchedule[], { zone, after, limit }: NextRunsOptions): NextRun[] {
  const zones = new TimeZones();
  let upcoming: Upcoming[] = [];
  for (const { launchPlan, schedule, activatedAt } of schedules) {
    if (launchPlan === undefined || schedule === undefined || activatedAt === undefined) continue;
    const from = timestampDate(activatedAt).getTime();
    const recurrence = scheduleRecurrence(schedule, { zones, zone, from });
    const at = recurrence?.next(Math.max(after, from));
    if (recurrence !== undefined && at !== undefined) upcoming.push({ launchPlan, recurrence, at });
  }
  // Only the first `limit` schedules can contribute.
  upcoming = upcoming.sort((a, b) => a.at - b.at).slice(0, limit);
  const runs: NextRun[] = [];
  while (runs.length < limit) {
    const first = upcoming[0];
    if (first === undefined) break;
    const { launchPlan, recurrence, at } = first;
    runs.push(
      create(NextRunSchema, { launchPlan, scheduledAt: timestampFromMs(at), executionName: scheduledExecutionName(launchPlan, at) }),
    );
    const next = recurrence.next(at);
    if (next === undefined) upcoming.shift();
    else {
      first.at = next;
      upcoming.sort((a, b) => a.at - b.at);
    }
  }
  return runs;
}
