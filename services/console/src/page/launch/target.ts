import type { LaunchPlanJson } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import type { TaskJson } from "@flyte-ts/idl/flyteidl/admin/task_pb";
import type { IdentifierJson } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralJson } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { isActive } from "../../entity/schedule-text.js";
import { isGiven } from "../../format/given.js";
import type { FieldType } from "../../literal/type/field-type.js";
import { readType } from "../../literal/type/read-type.js";
import type { LaunchSearch } from "../../route/launch-search.js";

/** An input of what is launched. */
export interface LaunchInput {
  readonly name: string;
  readonly type: FieldType;
  readonly description: string;
  readonly required: boolean;
  /** Value that is used where none is given. */
  readonly fallback: LiteralJson | undefined;
}

/** Launch plan or task in one version, with what its form needs. */
export interface LaunchTarget {
  readonly kind: "launch plan" | "task";
  readonly id: Required<Pick<IdentifierJson, "project" | "domain" | "name" | "version">>;
  readonly inputs: readonly LaunchInput[];
  /** Inputs that the launch plan fixes. */
  readonly fixed: Readonly<Record<string, LiteralJson>>;
  /** Versions that may be chosen, newest first. */
  readonly versions: readonly string[];
  /** Names of the launch plans that may be chosen. */
  readonly plans: readonly string[];
  readonly plan: LaunchPlanJson | undefined;
}

/** Chooses the version of a launch plan that the address names; undefined where there is none. */
export function planTarget(plans: readonly LaunchPlanJson[], { workflow, launchPlan, version }: LaunchSearch): LaunchTarget | undefined {
  const names = [...new Set(plans.map(({ id }) => id?.name ?? ""))];
  const name = launchPlan !== "" ? launchPlan : names.includes(workflow) ? workflow : names[0];
  const own = plans.filter(({ id }) => id?.name === name);
  const plan =
    version !== "" ? own.find(({ id }) => id?.version === version) : ((launchPlan === "" ? undefined : own.find(isActive)) ?? own[0]);
  if (plan === undefined) return undefined;
  const parameters = (isGiven(plan.closure?.expectedInputs) ? plan.closure.expectedInputs : plan.spec?.defaultInputs)?.parameters ?? {};
  const inputs = Object.entries(parameters).map(
    ([input, { var: variable, default: fallback, required }]): LaunchInput => ({
      name: input,
      type: readType(variable?.type),
      description: variable?.description ?? "",
      required: required === true,
      fallback: isGiven(fallback) ? fallback : undefined,
    }),
  );
  return {
    kind: "launch plan",
    id: identifierOf(plan.id),
    inputs,
    fixed: plan.spec?.fixedInputs?.literals ?? {},
    versions: own.map(({ id }) => id?.version ?? ""),
    plans: names,
    plan,
  };
}

/** Chooses the version of a task that the address names, else the newest. */
export function taskTarget(tasks: readonly TaskJson[], { version }: LaunchSearch): LaunchTarget | undefined {
  const task = version === "" ? tasks[0] : tasks.find(({ id }) => id?.version === version);
  if (task === undefined) return undefined;
  const variables = task.closure?.compiledTask?.template?.interface?.inputs?.variables ?? {};
  return {
    kind: "task",
    id: identifierOf(task.id),
    inputs: Object.entries(variables).map(([name, { type, description = "" }]) => ({
      name,
      type: readType(type),
      description,
      required: true,
      fallback: undefined,
    })),
    fixed: {},
    versions: tasks.map(({ id }) => id?.version ?? ""),
    plans: [],
    plan: undefined,
  };
}

function identifierOf({ project = "", domain = "", name = "", version = "" }: IdentifierJson = {}): LaunchTarget["id"] {
  return { project, domain, name, version };
}
