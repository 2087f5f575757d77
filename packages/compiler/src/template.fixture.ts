/** Builders of the templates that the tests compile. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { BooleanExpressionSchema } from "@flyte-ts/idl/flyteidl/core/condition_pb";
import { type CompiledTask, CompiledTaskSchema, type CompiledWorkflow } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { type Identifier, IdentifierSchema, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { ParameterMapSchema, type ParameterSchema, VariableMapSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { type BindingDataSchema, type BindingSchema, LiteralMapSchema, type ScalarSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type LiteralType, LiteralTypeSchema, SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import {
  type IfBlockSchema,
  type NodeSchema,
  type WorkflowTemplate,
  WorkflowTemplateSchema,
} from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { compileWorkflow, type LaunchPlanInterface, type WorkflowSource } from "./index.js";

export type Node = Extract<MessageInitShape<typeof NodeSchema>, { $typeName?: undefined }>;
export type Data = MessageInitShape<typeof BindingDataSchema>;
export type Types = Readonly<Record<string, LiteralType>>;
type Scalar = NonNullable<MessageInitShape<typeof ScalarSchema>["value"]>;
type Condition = MessageInitShape<typeof BooleanExpressionSchema>;

const type = (init: MessageInitShape<typeof LiteralTypeSchema>): LiteralType => create(LiteralTypeSchema, init);
const simple = (value: SimpleType): LiteralType => type({ type: { case: "simple", value } });
export const int = simple(SimpleType.INTEGER);
export const float = simple(SimpleType.FLOAT);
export const text = simple(SimpleType.STRING);
export const bool = simple(SimpleType.BOOLEAN);
export const none = simple(SimpleType.NONE);
export const listOf = (value: LiteralType): LiteralType => type({ type: { case: "collectionType", value } });
export const mapOf = (value: LiteralType): LiteralType => type({ type: { case: "mapValueType", value } });
export const union = (...variants: LiteralType[]): LiteralType => type({ type: { case: "unionType", value: { variants } } });
export const oneOf = (...values: string[]): LiteralType => type({ type: { case: "enumType", value: { values } } });
export const dataclass = (dataclassType: Types): LiteralType =>
  type({ type: { case: "simple", value: SimpleType.STRUCT }, structure: { dataclassType } });

export const promise = (nodeId: string, output: string, ...path: (string | number)[]): Data => ({
  value: {
    case: "promise",
    value: {
      nodeId,
      var: output,
      attrPath: path.map((value) => ({
        value: typeof value === "string" ? { case: "stringValue", value } : { case: "intValue", value },
      })),
    },
  },
});
export const scalar = (value: Scalar): Data => ({ value: { case: "scalar", value: { value } } });
export const number = (value: number): Data => scalar({ case: "primitive", value: { value: { case: "integer", value: BigInt(value) } } });
export const word = (value: string): Data => scalar({ case: "primitive", value: { value: { case: "stringValue", value } } });
export const items = (...bindings: Data[]): Data => ({ value: { case: "collection", value: { bindings } } });
export const entries = (bindings: Record<string, Data>): Data => ({ value: { case: "map", value: { bindings } } });
export const bind = (inputs: Record<string, Data | undefined>): MessageInitShape<typeof BindingSchema>[] =>
  Object.entries(inputs).map(([name, binding]) => ({ var: name, binding }));

export const identifier = (resourceType: ResourceType, name: string): Identifier =>
  create(IdentifierSchema, { resourceType, project: "p", domain: "d", name, version: "v" });
const variables = (types: Types) => ({ variables: Object.fromEntries(Object.entries(types).map(([name, t]) => [name, { type: t }])) });

export function task(name: string, inputs: Types, outputs: Types): CompiledTask {
  return create(CompiledTaskSchema, {
    template: { id: identifier(ResourceType.TASK, name), interface: { inputs: variables(inputs), outputs: variables(outputs) } },
  });
}

/** `defaults` lists the inputs with a default. */
export function launchPlan(name: string, inputs: Types, options: { defaults?: string[]; outputs?: Types } = {}): LaunchPlanInterface {
  const parameter = (input: string, type: LiteralType): MessageInitShape<typeof ParameterSchema> => ({
    var: { type },
    behavior: options.defaults?.includes(input)
      ? { case: "default", value: { value: { case: "scalar", value: { value: { case: "noneType", value: {} } } } } }
      : { case: "required", value: true },
  });
  return {
    id: identifier(ResourceType.LAUNCH_PLAN, name),
    expectedInputs: create(ParameterMapSchema, {
      parameters: Object.fromEntries(Object.entries(inputs).map(([input, t]) => [input, parameter(input, t)])),
    }),
    fixedInputs: create(LiteralMapSchema),
    expectedOutputs: create(VariableMapSchema, variables(options.outputs ?? {})),
  };
}

export const runs = (name: string): Node["target"] => ({
  case: "taskNode",
  value: { reference: { case: "referenceId", value: identifier(ResourceType.TASK, name) } },
});
export const launches = (name: string): Node["target"] => ({
  case: "workflowNode",
  value: { reference: { case: "launchplanRef", value: identifier(ResourceType.LAUNCH_PLAN, name) } },
});
export const calls = (name: string): Node["target"] => ({
  case: "workflowNode",
  value: { reference: { case: "subWorkflowRef", value: identifier(ResourceType.WORKFLOW, name) } },
});
export const sleeps: Node["target"] = { case: "gateNode", value: { condition: { case: "sleep", value: {} } } };

export const equalsOne = (variable: string): Condition => ({
  expr: {
    case: "comparison",
    value: {
      leftValue: { val: { case: "var", value: variable } },
      rightValue: { val: { case: "primitive", value: { value: { case: "integer", value: 1n } } } },
    },
  },
});

/** A branch over the variable `c`, one case per node, with an error when none matches. */
export function branches(arms: readonly (Node | undefined)[], condition: Condition | undefined = equalsOne("c")): Node["target"] {
  const [first, ...other] = arms.map((thenNode): MessageInitShape<typeof IfBlockSchema> => ({ condition, thenNode }));
  return { case: "branchNode", value: { ifElse: { case: first, other, default: { case: "error", value: { message: "none" } } } } };
}

export interface Parts {
  readonly inputs?: Types;
  readonly outputs?: Types;
  readonly bound?: Record<string, Data | undefined>;
  readonly nodes: readonly Node[];
  readonly failureNode?: Node | undefined;
}

export function workflow(name: string, { inputs = {}, outputs = {}, bound = {}, nodes, failureNode }: Parts): WorkflowTemplate {
  return create(WorkflowTemplateSchema, {
    id: identifier(ResourceType.WORKFLOW, name),
    interface: { inputs: variables(inputs), outputs: variables(outputs) },
    nodes: [...nodes],
    outputs: bind(bound),
    failureNode,
  });
}

/**
 * Default tasks of the tests: `t` takes the integer `a` and returns the integer `o`; `z` has no
 * inputs and outputs.
 */
export const tasks: readonly CompiledTask[] = [
  task("t", { a: int }, { o: int }),
  task("z", {}, {}),
  task("text", { a: text }, { o: text }),
  task("list", { a: listOf(int) }, { o: listOf(int) }),
];

export type Compiled = Omit<WorkflowSource, "template" | "subWorkflows" | "tasks" | "launchPlans"> & Partial<WorkflowSource>;

/** Lists the errors as `Code node`, in their order; empty when the workflow compiles. */
export function errorsOf(template: WorkflowTemplate, source: Compiled = {}): string[] {
  const result = compileWorkflow({ subWorkflows: [], tasks, launchPlans: [], ...source, template });
  return result.ok ? [] : result.errors.map(({ code, nodeId }) => `${code} ${nodeId}`);
}

/** The primary workflow; throws when there are errors. */
export function compiled(template: WorkflowTemplate, source: Compiled = {}): CompiledWorkflow {
  const result = compileWorkflow({ subWorkflows: [], tasks, launchPlans: [], ...source, template });
  if (!result.ok || result.closure.primary === undefined) throw new Error(errorsOf(template, source).join(", "));
  return result.closure.primary;
}

/** Upstream ids by node, as plain lists. */
export function upstreamOf(primary: CompiledWorkflow): Record<string, string[]> {
  return Object.fromEntries(Object.entries(primary.connections?.upstream ?? {}).map(([id, { ids }]) => [id, ids]));
}

/** Downstream ids by node, as plain lists. */
export function downstreamOf(primary: CompiledWorkflow): Record<string, string[]> {
  return Object.fromEntries(Object.entries(primary.connections?.downstream ?? {}).map(([id, { ids }]) => [id, ids]));
}
