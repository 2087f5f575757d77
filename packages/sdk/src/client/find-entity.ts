import { pathOf } from "@flyte-ts/client/browser";
import { type LaunchPlan, LaunchPlanListSchema } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { TaskListSchema, TaskSchema } from "@flyte-ts/idl/flyteidl/admin/task_pb";
import { type Identifier, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { VariableMap } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import type { FlyteApi } from "../api/flyte-api.js";
import { typeOfLiteralType } from "../codec/literal-type-reader.js";
import { type EntityAddress, type Interface, SINGLE_OUTPUT } from "../entity/definition.js";
import type { Fields } from "../type/type.js";

/** Entity that an execution runs, with its interface. */
export interface Registered {
  readonly id: Identifier;
  readonly interface: Interface;
  /** Inputs for which the server has values. */
  readonly defaults: ReadonlySet<string>;
}

export type FullAddress = Required<Omit<EntityAddress, "kind" | "version">> & {
  /** Default: a launch plan, which each workflow has, else a task. */
  readonly kind?: EntityAddress["kind"] | undefined;
  /** Default: the newest. */
  readonly version?: string | undefined;
};

/** Finds a registered entity. @throws Error when there is none */
export async function findRegistered(api: FlyteApi, address: FullAddress): Promise<Registered> {
  const { kind, project, domain, name, version } = address;
  const found =
    (kind === "task" ? undefined : await findLaunchPlan(api, address)) ??
    (kind === undefined || kind === "task" ? await findTask(api, address) : undefined);
  if (found !== undefined) return found;
  const shown = `${kind ?? "workflow, launch plan or task"} ${name}${version === undefined ? "" : ` of version ${version}`}`;
  throw new Error(`${project}/${domain} has no ${shown}; \`flyte-ts register\` registers it`);
}

/** Query for one version of an entity: this one, or the newest. */
function newest({ version }: FullAddress) {
  const filters = version === undefined ? undefined : `eq(version,${version})`;
  return { query: { limit: 1, filters, "sort_by.key": "created_at", "sort_by.direction": "DESCENDING" } };
}

async function findLaunchPlan(api: FlyteApi, address: FullAddress): Promise<Registered | undefined> {
  const path = pathOf("api/v1/launch_plans", address.project, address.domain, address.name);
  const [plan] = (await api.call(LaunchPlanListSchema, path, newest(address))).launchPlans;
  return plan?.id === undefined ? undefined : { id: typed(plan.id, ResourceType.LAUNCH_PLAN), ...interfaceOfPlan(plan) };
}

function interfaceOfPlan({ closure }: LaunchPlan): Pick<Registered, "interface" | "defaults"> {
  const parameters = Object.entries(closure?.expectedInputs?.parameters ?? {});
  const inputs = parameters.flatMap(([name, { var: variable }]) =>
    variable?.type === undefined ? [] : [[name, typeOfLiteralType(variable.type)] as const],
  );
  const defaults = parameters.filter(([, { behavior }]) => behavior.case === "default").map(([name]) => name);
  return {
    interface: { inputs: Object.fromEntries(inputs), ...outputsOf(closure?.expectedOutputs) },
    defaults: new Set(defaults),
  };
}

async function findTask(api: FlyteApi, address: FullAddress): Promise<Registered | undefined> {
  const { project, domain, name } = address;
  const [listed] = (await api.call(TaskListSchema, pathOf("api/v1/tasks", project, domain, name), newest(address))).tasks;
  if (listed?.id === undefined) return undefined;
  const { closure } = await api.call(TaskSchema, pathOf("api/v1/tasks", project, domain, name, listed.id.version));
  const declared = closure?.compiledTask?.template?.interface;
  return {
    id: typed(listed.id, ResourceType.TASK),
    interface: { inputs: fieldsOf(declared?.inputs), ...outputsOf(declared?.outputs) },
    defaults: new Set(),
  };
}

/** Go Flyte leaves out the type in lists. */
const typed = (id: Identifier, resourceType: ResourceType): Identifier => ({ ...id, resourceType });

function outputsOf(variables: VariableMap | undefined): Pick<Interface, "outputs" | "single"> {
  const outputs = fieldsOf(variables);
  const names = Object.keys(outputs);
  return { outputs, single: names.length === 1 && names[0] === SINGLE_OUTPUT };
}

function fieldsOf(variables: VariableMap | undefined): Fields {
  const entries = Object.entries(variables?.variables ?? {});
  return Object.fromEntries(entries.flatMap(([name, { type }]) => (type === undefined ? [] : [[name, typeOfLiteralType(type)] as const])));
}
