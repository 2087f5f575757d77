import { create } from "@bufbuild/protobuf";
import { parseGoDuration } from "@flyte-ts/domain/duration";
import { BooleanExpressionSchema } from "@flyte-ts/idl/flyteidl/core/condition_pb";
import { IdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { BindingSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import {
  ExtendedResourcesSchema,
  K8sPodSchema,
  ResourcesSchema,
  Resources_ResourceName,
  type Resources,
} from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { ErrorSchema } from "@flyte-ts/idl/flyteidl/core/types_pb";
import {
  ApproveConditionSchema,
  ArrayNodeSchema,
  GateNodeSchema,
  SignalConditionSchema,
  SleepConditionSchema,
  type ArrayNode,
  type GateNode,
} from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import type { BranchModel, NodeModel, NodeTarget } from "../model/model.js";
import type { Field } from "../parse/field.js";
import type { BindingInterner } from "./binding-interner.js";

/** Tasks that nodes of the resource may reference. */
export interface KnownTasks {
  /** By key: the target of a node that runs the task, shared, as 100,000 nodes may run one task. */
  readonly tasks: ReadonlyMap<string, NodeTarget>;
}

interface NodeContext extends KnownTasks {
  readonly bindings: BindingInterner;
}

/** Parses a node of `nodes`, `onFailure` or `SubNodeSpec`. */
export function parseNode(node: Field, context: NodeContext): NodeModel {
  return {
    id: node.at("id").string(),
    name: node.at("name").stringOrEmpty(),
    target: parseTarget(node, context),
    inputBindings: node
      .at("inputBindings")
      .items()
      .map((binding) => context.bindings.intern(binding.message(BindingSchema))),
    maxAttempts: node.at("retry").optional((retry) => retry.at("minAttempts").optional((field) => field.nonNegativeInt())),
    executionDeadlineMs: parseDeadline(node.at("executionDeadline")),
    activeDeadlineMs: parseDeadline(node.at("activeDeadline")),
    interruptible: node.at("interruptible").optional((field) => field.boolean()),
    outputAliases: parseAliases(node.at("outputAlias")),
    resources: node.at("resources").optional(parseResources),
    extendedResources: node.at("extendedResources").optional((field) => field.message(ExtendedResourcesSchema)),
    containerImage: node.at("containerImage").stringOrEmpty(),
    podTemplate: node.at("podTemplate").optional((field) => field.message(K8sPodSchema)),
  };
}

const NO_ALIASES: NodeModel["outputAliases"] = [];

function parseAliases(aliases: Field): NodeModel["outputAliases"] {
  if (aliases.isAbsent) return NO_ALIASES;
  return aliases.items().map((alias) => ({ variable: alias.at("var").stringOrEmpty(), alias: alias.at("alias").stringOrEmpty() }));
}

function parseTarget(node: Field, context: NodeContext): NodeTarget {
  const kind = node.at("kind").string();
  switch (kind) {
    case "start":
    case "end":
      return { kind };
    case "task":
      return parseTaskTarget(node.at("task").string(), context);
    case "branch":
      return { kind, branch: parseBranch(node.at("branch")) };
    case "workflow":
      return parseWorkflowNode(node.at("workflow"));
    case "gate":
      return { kind, gate: parseGate(node.at("gate")) };
    case "array":
      return { kind, array: parseArray(node.at("array")), subNode: parseNode(node.at("array").at("SubNodeSpec"), context) };
    default:
      throw node.at("kind").error(`must be task, branch, workflow, gate, array, start or end, is ${JSON.stringify(kind)}`);
  }
}

/** Unknown tasks are rejected once the whole graph is parsed. */
function parseTaskTarget(task: string, { tasks }: KnownTasks): NodeTarget {
  return tasks.get(task) ?? { kind: "task", task };
}

function parseWorkflowNode(workflow: Field): NodeTarget {
  const reference = workflow.at("subWorkflowRef");
  if (!reference.isAbsent) return { kind: "subWorkflow", workflow: reference.string() };
  const launchPlan = workflow.at("launchPlanRefId");
  if (launchPlan.isAbsent) throw workflow.error("must hold launchPlanRefId or subWorkflowRef");
  return { kind: "launchPlan", launchPlan: launchPlan.message(IdentifierSchema) };
}

function parseBranch(branch: Field): BranchModel {
  const arms = [branch.at("if"), ...branch.at("elseIf").items()];
  return {
    // oxlint-disable-next-line unicorn/no-thenable -- the field's name in the resource
    arms: arms.map((arm) => ({ condition: arm.at("condition").message(BooleanExpressionSchema), then: arm.at("then").string() })),
    otherwise: branch.at("else").optional((field) => field.string()),
    otherwiseError: branch.at("elseFail").optional((field) => field.message(ErrorSchema)),
  };
}

function parseGate(gate: Field): GateNode {
  const kind = gate.at("kind").string();
  switch (kind) {
    case "approve":
      return create(GateNodeSchema, { condition: { case: kind, value: gate.at(kind).message(ApproveConditionSchema) } });
    case "signal":
      return create(GateNodeSchema, { condition: { case: kind, value: gate.at(kind).message(SignalConditionSchema) } });
    case "sleep":
      return create(GateNodeSchema, { condition: { case: kind, value: gate.at(kind).message(SleepConditionSchema) } });
    default:
      throw gate.at("kind").error(`must be approve, signal or sleep, is ${JSON.stringify(kind)}`);
  }
}

function parseArray(array: Field): ArrayNode {
  const parallelism = array.at("Parallelism").optional((field) => field.nonNegativeInt());
  const successes = array.at("MinSuccesses").optional((field) => field.nonNegativeInt());
  const ratio = array.at("MinSuccessRatio").optional((field) => Math.fround(field.number()));
  const message = create(ArrayNodeSchema, {
    isOriginalSubNodeInterface: array.at("OriginalInterface").optional((field) => field.boolean()) ?? false,
    boundInputs: array
      .at("BoundInputs")
      .items()
      .map((input) => input.string()),
  });
  if (parallelism !== undefined) message.parallelismOption = { case: "parallelism", value: parallelism };
  if (successes !== undefined) message.successCriteria = { case: "minSuccesses", value: successes };
  else if (ratio !== undefined) message.successCriteria = { case: "minSuccessRatio", value: ratio };
  return message;
}

const milliseconds = (nanoseconds: bigint | undefined) => (nanoseconds === undefined ? undefined : Number(nanoseconds) / 1e6);

/** Milliseconds; a deadline of zero is none. */
function parseDeadline(field: Field): number | undefined {
  if (field.isAbsent) return undefined;
  // Go's metav1.Duration is text; a bare time.Duration would be a number of nanoseconds.
  const ms = typeof field.value === "number" ? field.number() / 1e6 : milliseconds(parseGoDuration(field.string()));
  if (ms === undefined) throw field.error(`must be a duration such as 1h2m3.5s, is ${JSON.stringify(field.value)}`);
  return ms > 0 ? ms : undefined;
}

const RESOURCE_NAMES: Readonly<Record<string, Resources_ResourceName>> = {
  cpu: Resources_ResourceName.CPU,
  memory: Resources_ResourceName.MEMORY,
  "nvidia.com/gpu": Resources_ResourceName.GPU,
  "ephemeral-storage": Resources_ResourceName.EPHEMERAL_STORAGE,
};

/** Kubernetes resource requirements; undefined when nothing is required. */
function parseResources(resources: Field): Resources | undefined {
  const message = create(ResourcesSchema);
  for (const kind of ["requests", "limits"] as const) {
    for (const [name, quantity] of resources.at(kind).entries()) {
      const known = RESOURCE_NAMES[name];
      if (known === undefined) continue;
      // Kubernetes accepts whole numbers as quantities, too.
      const value = typeof quantity.value === "number" ? String(quantity.value) : quantity.string();
      message[kind].push({ $typeName: "flyteidl.core.Resources.ResourceEntry", name: known, value });
    }
  }
  return message.requests.length + message.limits.length === 0 ? undefined : message;
}
