import { create } from "@bufbuild/protobuf";
import {
  checkLiterals,
  datetimeLiteral,
  JsonLiteralError,
  literalFitsType,
  literalMap,
  parseJsonPointer,
  stringLiteral,
} from "@flyte-ts/domain/literal";
import { isTerminalWorkflowEvent } from "@flyte-ts/domain/phase";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Parameter } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import {
  About,
  ExecutionSourceSchema,
  type InputSource,
  type Trigger,
  TriggerSchema,
  WebhookScheme,
} from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";
import type { AutomationDeps } from "../deps.js";
import { checkName, checkText, invalidArgument, missingArgument, missingEntity } from "../../platform/index.js";
import { requireActiveProject } from "../../registry/index.js";
import { findTarget } from "./find-target.js";
import { outputPath } from "./output-path.js";
import type { TriggerName } from "../store/triggers.js";

export type CheckDeps = Pick<AutomationDeps, "db" | "config">;

const NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const MAX_INPUTS = 1_000;

/** @throws RpcError INVALID_ARGUMENT. */
export function checkTriggerId(id: Trigger["id"]): asserts id is NonNullable<Trigger["id"]> {
  if (id === undefined) throw missingArgument("id");
  checkName(id.project, "id.project");
  checkName(id.domain, "id.domain");
  checkText(id.name, "id.name");
  if (!NAME.test(id.name))
    throw invalidArgument(`invalid value for id.name: ${id.name} must have at most 63 lower-case letters, digits and dashes`);
}

/**
 * Validates a trigger and fills in defaults; returns the form to store.
 *
 * @throws RpcError INVALID_ARGUMENT naming the field and the rule; NOT_FOUND without the launch
 *   plan.
 */
export async function checkTrigger(
  deps: CheckDeps,
  given: Trigger | undefined,
): Promise<{ readonly id: TriggerName; readonly trigger: Trigger }> {
  if (given === undefined) throw missingArgument("trigger");
  const { id } = given;
  checkTriggerId(id);
  await requireActiveProject(deps, id.project, id.domain);
  if (given.description.includes("\0")) throw invalidArgument("invalid value for description: NUL characters are not allowed");
  const launchPlan = launchPlanOf(given, id);
  const source = sourceOf(given, id);
  const found = await findTarget(deps.db, launchPlan);
  if (found === undefined) {
    if (launchPlan.version !== "") throw missingEntity("LAUNCH_PLAN", launchPlan);
    throw invalidArgument(`invalid value for launch_plan: ${launchPlan.name} has no active version: name a version`);
  }
  const { closure, spec } = found.launchPlan;
  const parameters = new Map(Object.entries(closure?.expectedInputs?.parameters ?? {}));
  checkInputSources(given.inputs, { parameters, source, fixed: Object.keys(spec?.fixedInputs?.literals ?? {}) });
  const { description, inputs } = given;
  return { id, trigger: create(TriggerSchema, { description, inputs, launchPlan, source }) };
}

function launchPlanOf({ launchPlan }: Trigger, id: TriggerName): NonNullable<Trigger["launchPlan"]> {
  if (launchPlan === undefined) throw missingArgument("launch_plan");
  const filled = { ...launchPlan, project: launchPlan.project || id.project, domain: launchPlan.domain || id.domain };
  if (filled.resourceType !== ResourceType.UNSPECIFIED && filled.resourceType !== ResourceType.LAUNCH_PLAN) {
    throw invalidArgument("invalid value for launch_plan: must name a launch plan");
  }
  checkName(filled.project, "launch_plan.project");
  checkName(filled.domain, "launch_plan.domain");
  checkName(filled.name, "launch_plan.name");
  if (filled.version !== "") checkName(filled.version, "launch_plan.version");
  return { ...filled, resourceType: ResourceType.LAUNCH_PLAN };
}

function sourceOf({ source }: Trigger, id: TriggerName): Trigger["source"] {
  switch (source.case) {
    case "execution": {
      const { project, domain, launchPlan, workflow } = source.value;
      for (const [field, value] of Object.entries({ project, domain, launch_plan: launchPlan, workflow })) {
        if (value !== "") checkName(value, `execution.${field}`);
      }
      const phases = source.value.phases.length === 0 ? [WorkflowExecution_Phase.SUCCEEDED] : [...new Set(source.value.phases)];
      const running = phases.find((phase) => !isTerminalWorkflowEvent(phase));
      if (running !== undefined) {
        throw invalidArgument(`invalid value for execution.phases: ${WorkflowExecution_Phase[running] ?? running} is not a terminal phase`);
      }
      const value = { project: project || id.project, domain: domain || id.domain, launchPlan, workflow, phases };
      return { case: "execution", value: create(ExecutionSourceSchema, value) };
    }
    case "webhook":
      if (source.value.scheme === WebhookScheme.UNSPECIFIED)
        return { case: "webhook", value: { ...source.value, scheme: WebhookScheme.STANDARD } };
      if (WebhookScheme[source.value.scheme] === undefined)
        throw invalidArgument("invalid value for webhook.scheme: must be STANDARD or GITHUB");
      return source;
    case undefined:
      throw invalidArgument("missing source: set execution or webhook");
  }
}

interface Interface {
  readonly parameters: ReadonlyMap<string, Parameter>;
  readonly fixed: readonly string[];
  readonly source: Trigger["source"];
}

function checkInputSources(inputs: Readonly<Record<string, InputSource>>, { parameters, fixed, source }: Interface): void {
  const entries = Object.entries(inputs);
  if (entries.length > MAX_INPUTS) throw invalidArgument(`invalid value for inputs: at most ${MAX_INPUTS}, found ${entries.length}`);
  for (const [name, input] of entries) {
    const wrong = (rule: string) => invalidArgument(`invalid value for inputs.${name}: ${rule}`);
    if (fixed.includes(name)) throw wrong("the launch plan fixes it");
    const parameter = parameters.get(name);
    if (parameter === undefined) throw wrong("the launch plan has no such input");
    const rule = inputSourceError(input, { parameter, source });
    if (rule !== undefined) throw wrong(rule);
  }
  for (const [name, { behavior }] of parameters) {
    if (behavior.case === "required" && behavior.value && inputs[name] === undefined) {
      throw invalidArgument(`missing inputs.${name}: the launch plan has no default for it`);
    }
  }
}

/** Returns the rule that a source of an input violates. */
function inputSourceError(
  { source: from }: InputSource,
  { parameter, source }: { readonly parameter: Parameter; readonly source: Trigger["source"] },
): string | undefined {
  const type = parameter.var?.type;
  switch (from.case) {
    case "output":
      if (source.case !== "execution") return "a webhook has no outputs: use a field of its body";
      if (source.value.phases.some((phase) => phase !== WorkflowExecution_Phase.SUCCEEDED)) {
        return "only executions that SUCCEEDED have outputs, and the trigger fires for others too";
      }
      return syntaxError(() => outputPath(from.value));
    case "body":
      if (source.case !== "webhook") return "the end of an execution has no body: use an output";
      return syntaxError(() => parseJsonPointer(from.value));
    case "literal": {
      const [bad] = checkLiterals(literalMap([["value", from.value]]));
      if (bad !== undefined) return bad.message;
      return type === undefined || literalFitsType(from.value, type) ? undefined : "the literal is of another type";
    }
    case "about": {
      if (About[from.value] === undefined || from.value === About.UNSPECIFIED) return "about must be set";
      const ofExecution = from.value <= About.EXECUTION_ERROR;
      if (from.value !== About.TIME && ofExecution !== (source.case === "execution"))
        return `${About[from.value]} is not available from this source`;
      const sample = from.value === About.TIME ? datetimeLiteral(new Date(0)) : stringLiteral("");
      if (type !== undefined && !literalFitsType(sample, type))
        return `it must be a ${from.value === About.TIME ? "datetime" : "string"} to be given ${About[from.value]}`;
      return undefined;
    }
    case undefined:
      return "set output, body, literal or about";
  }
}

function syntaxError(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (error instanceof JsonLiteralError) return error.message;
    throw error;
  }
}
