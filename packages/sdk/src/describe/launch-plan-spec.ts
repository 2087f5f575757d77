import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type ParameterMap, ParameterMapSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { WorkflowExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { NotificationSchema } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { ConcurrencyLimitBehavior, type LaunchPlanSpec, LaunchPlanSpecSchema } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { FixedRateUnit, type ScheduleSchema } from "@flyte-ts/idl/flyteidl/admin/schedule_pb";
import { encodeValue } from "../codec/encode.js";
import { graphEncoding } from "../codec/encoding.js";
import { encodeFields } from "../codec/interface-values.js";
import { literalTypeOf } from "../codec/literal-type.js";
import { rootPlace } from "../codec/place.js";
import { definitionOf, type LaunchPlanDefinition, type WorkflowDefinition } from "../entity/definition.js";
import { GraphError } from "../entity/errors.js";
import type { LaunchPlanSettings, NotifyRule, Schedule } from "../entity/launch-plan-settings.js";
import { durationOf } from "../type/duration.js";
import { type Fields, mayBeAbsent } from "../type/type.js";
import { identify, type Registration } from "./registration.js";

/** Returns the spec of the launch plan that every workflow has. */
export function defaultLaunchPlan(workflow: WorkflowDefinition, name: string, registration: Registration): LaunchPlanSpec {
  return specOf(workflow, name, registration, {});
}

/** Returns the spec of a launch plan; `workflowName` is the name of its workflow. */
export function launchPlanSpec(definition: LaunchPlanDefinition, workflowName: string, registration: Registration): LaunchPlanSpec {
  const workflow = definitionOf(definition.workflow);
  if (workflow.kind !== "workflow") throw new GraphError("a launch plan needs a workflow of this project");
  return specOf(workflow, workflowName, registration, definition.settings);
}

function specOf(workflow: WorkflowDefinition, name: string, registration: Registration, settings: LaunchPlanSettings): LaunchPlanSpec {
  const { schedule, notify = [], labels = {}, annotations = {}, maxParallelism = 0, overwriteCache = false } = settings;
  const { interruptible, maxConcurrentExecutions, env } = settings;
  return create(LaunchPlanSpecSchema, {
    workflowId: identify(registration, ResourceType.WORKFLOW, name),
    entityMetadata: { ...(schedule !== undefined && { schedule: scheduleOf(schedule) }), notifications: notify.flatMap(notificationsOf) },
    defaultInputs: parametersOf(workflow.inputs, settings),
    fixedInputs: fixedInputs(workflow.inputs, settings.fixed ?? {}),
    labels: { values: labels },
    annotations: { values: annotations },
    rawOutputDataConfig: {},
    maxParallelism,
    overwriteCache,
    ...(interruptible !== undefined && { interruptible }),
    ...(env !== undefined && { envs: { values: Object.entries(env).map(([key, value]) => ({ key, value })) } }),
    ...(maxConcurrentExecutions !== undefined && {
      concurrencyPolicy: { max: maxConcurrentExecutions, behavior: ConcurrencyLimitBehavior.SKIP },
    }),
  });
}

/** Returns the inputs that callers may give: required, or with a default. */
export function parametersOf(inputs: Fields, { defaults = {}, fixed = {} }: Pick<LaunchPlanSettings, "defaults" | "fixed">): ParameterMap {
  const open = Object.entries(inputs).filter(([name]) => !Object.hasOwn(fixed, name));
  const parameters = open.map(([name, type]) => {
    const variable = { type: literalTypeOf(type), description: name };
    const value = defaults[name];
    if (value === undefined && !mayBeAbsent(type))
      return [name, { var: variable, behavior: { case: "required" as const, value: true } }] as const;
    const literal = encodeValue(type, value, graphEncoding, rootPlace(name));
    return [name, { var: variable, behavior: { case: "default" as const, value: literal } }] as const;
  });
  return create(ParameterMapSchema, { parameters: Object.fromEntries(parameters) });
}

function fixedInputs(inputs: Fields, fixed: Readonly<Record<string, unknown>>): LiteralMap {
  const fields = Object.fromEntries(Object.entries(inputs).filter(([name]) => Object.hasOwn(fixed, name)));
  return encodeFields(fields, fixed, graphEncoding, "input");
}

function scheduleOf(schedule: Schedule): MessageInitShape<typeof ScheduleSchema> {
  const kickoffTimeInputArg = schedule.kickoffTimeInput ?? "";
  if ("cron" in schedule) {
    const { cron, timezone } = schedule;
    const text = timezone === undefined ? cron : `CRON_TZ=${timezone} ${cron}`;
    return { kickoffTimeInputArg, ScheduleExpression: { case: "cronSchedule", value: { schedule: text } } };
  }
  return {
    kickoffTimeInputArg,
    ScheduleExpression: { case: "rate", value: rateOf(durationOf(schedule.every).milliseconds, schedule.every) },
  };
}

const UNITS = [
  [FixedRateUnit.DAY, 86_400_000],
  [FixedRateUnit.HOUR, 3_600_000],
  [FixedRateUnit.MINUTE, 60_000],
] as const;

function rateOf(milliseconds: number, text: string): { value: number; unit: FixedRateUnit } {
  for (const [unit, size] of UNITS) if (milliseconds >= size && milliseconds % size === 0) return { value: milliseconds / size, unit };
  throw new GraphError(`a schedule every ${text} is not possible: give whole minutes, hours or days`);
}

const PHASES = { succeeded: Phase.SUCCEEDED, failed: Phase.FAILED, aborted: Phase.ABORTED, "timed-out": Phase.TIMED_OUT };

function notificationsOf({ phases, email, slack, pagerDuty }: NotifyRule): MessageInitShape<typeof NotificationSchema>[] {
  const when = phases.map((phase) => PHASES[phase]);
  return [
    ...(email === undefined ? [] : [{ phases: when, type: { case: "email" as const, value: { recipientsEmail: [...email] } } }]),
    ...(slack === undefined ? [] : [{ phases: when, type: { case: "slack" as const, value: { recipientsEmail: [...slack] } } }]),
    ...(pagerDuty === undefined
      ? []
      : [{ phases: when, type: { case: "pagerDuty" as const, value: { recipientsEmail: [...pagerDuty] } } }]),
  ];
}
