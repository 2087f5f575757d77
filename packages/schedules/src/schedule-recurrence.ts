import { FixedRateUnit, type Schedule } from "@flyte-ts/idl/flyteidl/admin/schedule_pb";
import { parseCron } from "./cron-expression.js";
import { cronRecurrence, intervalRecurrence, type Recurrence } from "./recurrence.js";
import type { TimeZones } from "./time-zone.js";

const MINUTE = 60_000;

/**
 * Recurrence of a launch plan's schedule. `from` is its activation (ms since the epoch), from which
 * fixed rates count; `zone` applies to cron expressions that name none. Undefined when it is never
 * due: no expression, a rate of 0 or of an unknown unit.
 */
export function scheduleRecurrence(
  { ScheduleExpression: expression }: Schedule,
  { zones, zone, from }: { readonly zones: TimeZones; readonly zone: string; readonly from: number },
): Recurrence | undefined {
  switch (expression.case) {
    case "rate": {
      const unit = rateUnit(expression.value.unit);
      return unit === undefined || expression.value.value === 0 ? undefined : intervalRecurrence(expression.value.value * unit, from);
    }
    case "cronSchedule":
    case "cronExpression": {
      const parsed = parseCron(expression.case === "cronSchedule" ? expression.value.schedule : expression.value);
      return parsed.ok ? cronRecurrence(parsed.expression, { zones, zone, from }) : undefined;
    }
    case undefined:
      return undefined;
  }
}

function rateUnit(unit: FixedRateUnit): number | undefined {
  switch (unit) {
    case FixedRateUnit.MINUTE:
      return MINUTE;
    case FixedRateUnit.HOUR:
      return 60 * MINUTE;
    case FixedRateUnit.DAY:
      return 1440 * MINUTE;
    default:
      return undefined;
  }
}
