import type { Schedule } from "@flyte-ts/idl/flyteidl/admin/schedule_pb";
import type { LaunchPlanSpec } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import type { ParameterMap } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { typeToText } from "@flyte-ts/domain/type";
import { parseCron } from "@flyte-ts/schedules";
import type { Queryable } from "@flyte-ts/postgres";
import { invalidArgument } from "../../platform/index.js";
import { catchUpPolicy } from "./catch-up.js";
import { insertSchedule } from "../store/schedules.js";

/** Returns the value of the column `schedule_type`. */
export function scheduleType(schedule: Schedule | undefined): "NONE" | "CRON" | "RATE" {
  const expression = schedule?.ScheduleExpression;
  switch (expression?.case) {
    case "cronSchedule":
      return "CRON";
    case "cronExpression":
      return expression.value === "" ? "NONE" : "CRON";
    case "rate":
      return "RATE";
    case undefined:
      return "NONE";
  }
}

/**
 * Validates that the schedule can fire: a valid expression, and no required input except the one
 * for the kick-off time.
 *
 * @throws RpcError INVALID_ARGUMENT naming the input or the expression.
 */
export function checkSchedule(schedule: Schedule | undefined, expected: ParameterMap): void {
  if (schedule === undefined || scheduleType(schedule) === "NONE") return;
  const kickoff = schedule.kickoffTimeInputArg;
  const { ScheduleExpression: expression } = schedule;
  if (`${kickoff}${expression.case === "cronSchedule" ? expression.value.offset : ""}`.includes("\0")) {
    throw invalidArgument("invalid value for schedule: NUL characters are not allowed");
  }
  for (const [name, parameter] of Object.entries(expected.parameters)) {
    if (parameter.behavior.case === "required" && parameter.behavior.value && name !== kickoff) {
      throw invalidArgument(`Cannot create a launch plan with a schedule if there is an unbound required input. [${name}] is required`);
    }
  }
  if (kickoff !== "") {
    const parameter = Object.hasOwn(expected.parameters, kickoff) ? expected.parameters[kickoff] : undefined;
    if (parameter === undefined) {
      throw invalidArgument(
        `Cannot create a schedule with a KickoffTimeInputArg that does not point to a free input. [${kickoff}] is not free or does not exist.`,
      );
    }
    const type = parameter.var?.type;
    if (type?.type.case !== "simple" || type.type.value !== SimpleType.DATETIME) {
      throw invalidArgument(`KickoffTimeInputArg must reference a datetime input. [${kickoff}] is a [${typeToText(type)}]`);
    }
  }
  const cron = cronExpression(schedule);
  const parsed = cron === "" ? undefined : parseCron(cron);
  if (parsed?.ok === false) throw invalidArgument(`Invalid cron expression: ${parsed.problem}`);
}

/**
 * Stores the schedule of a newly activated launch plan; one without an expression never fires and
 * has no row. An existing schedule stays unchanged: a repeated registration neither shifts fixed
 * rates nor loses due runs.
 *
 * @throws RpcError INVALID_ARGUMENT for the deprecated form, which cannot be activated.
 */
export async function storeSchedule(
  tx: Queryable,
  { launchPlanRowId, spec, now }: { launchPlanRowId: bigint; spec: LaunchPlanSpec | undefined; now: Date },
): Promise<void> {
  const schedule = spec?.entityMetadata?.schedule;
  const expression = schedule?.ScheduleExpression;
  if (expression?.case === "cronExpression" && expression.value !== "") {
    throw invalidArgument("schedule.cron_expression is deprecated and cannot be activated: use schedule.cron_schedule");
  }
  const cron = schedule === undefined ? "" : cronExpression(schedule);
  const rate = expression?.case === "rate" ? expression.value : undefined;
  if (cron === "" && (rate?.value ?? 0) === 0) return;
  await insertSchedule(tx, {
    launchPlanRowId,
    cron,
    cronOffset: expression?.case === "cronSchedule" ? expression.value.offset : "",
    rate,
    kickoffInput: schedule?.kickoffTimeInputArg ?? "",
    catchUp: catchUpPolicy(spec?.annotations) ?? "",
    now,
  });
}

function cronExpression({ ScheduleExpression: expression }: Schedule): string {
  switch (expression.case) {
    case "cronSchedule":
      return expression.value.schedule;
    case "cronExpression":
      return expression.value;
    case "rate":
    case undefined:
      return "";
  }
}
