import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type Recurrence, scheduleRecurrence, type TimeZones } from "@flyte-ts/schedules";
import { type ActiveSchedule, CatchUp } from "@flyte-ts/idl/flytets/admin/v1/schedule_pb";

/** A version of a launch plan. */
export interface LaunchPlanId {
  readonly project: string;
  readonly domain: string;
  readonly name: string;
  readonly version: string;
}

/** Unique key of a version of a launch plan: names hold no NUL characters. */
export function scheduleKey({ project, domain, name, version }: LaunchPlanId): string {
  return [project, domain, name, version].join("\0");
}

/** Display name: `project/domain/name/version`. */
export function scheduleName({ project, domain, name, version }: LaunchPlanId): string {
  return [project, domain, name, version].join("/");
}

/** Policy for missed runs: start all of them, the last one, or none. */
export type CatchUpPolicy = "all" | "last" | "none";

/** An active schedule. Times are ms since the epoch. */
export interface Schedule {
  readonly key: string;
  readonly launchPlan: LaunchPlanId;
  readonly recurrence: Recurrence;
  /** Time zone of a cron expression that names none. */
  readonly zone: string;
  /** No run is due at this time or before it. */
  readonly activatedAt: number;
  readonly catchUp: CatchUpPolicy;
  /** Input that receives the time of the run; empty when there is none. */
  readonly kickoffInput: string;
}

/** Converts admin's form of a schedule; undefined when it is never due or invalid. */
export function readSchedule(message: ActiveSchedule, { zones, zone }: { zones: TimeZones; zone: string }): Schedule | undefined {
  const { launchPlan, schedule, activatedAt } = message;
  if (launchPlan === undefined || schedule === undefined || activatedAt === undefined) return undefined;
  const from = timestampMs(activatedAt);
  const recurrence = scheduleRecurrence(schedule, { zones, zone, from });
  if (recurrence === undefined) return undefined;
  const { project, domain, name, version } = launchPlan;
  return {
    key: scheduleKey(launchPlan),
    launchPlan: { project, domain, name, version },
    recurrence,
    zone,
    activatedAt: from,
    catchUp: policyOf(message.catchUp),
    kickoffInput: schedule.kickoffTimeInputArg,
  };
}

function policyOf(catchUp: CatchUp): CatchUpPolicy {
  switch (catchUp) {
    case CatchUp.ALL:
      return "all";
    case CatchUp.NONE:
      return "none";
    default:
      return "last";
  }
}
