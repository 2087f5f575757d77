import { isGiven } from "../format/given.js";
import type { LaunchPlanJson } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";

/** Formats the schedule of a launch plan: `every 5 minutes`, `0 2 * * *`; undefined for none. */
export function scheduleText({ spec }: LaunchPlanJson): string | undefined {
  const { cronSchedule, rate, cronExpression } = spec?.entityMetadata?.schedule ?? {};
  if (isGiven(rate)) {
    const unit = (rate.unit ?? "MINUTE").toLowerCase();
    return rate.value === 1 ? `every ${unit}` : `every ${rate.value ?? 0} ${unit}s`;
  }
  const cron = cronSchedule?.schedule ?? "";
  const text = cron === "" ? (cronExpression ?? "") : cron;
  return text === "" ? undefined : text;
}

/** Reports whether a version of a launch plan is active. */
export function isActive({ closure }: LaunchPlanJson): boolean {
  return closure?.state === "ACTIVE";
}
