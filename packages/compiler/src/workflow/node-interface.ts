import { create, equals } from "@bufbuild/protobuf";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type Variable, VariableSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { LiteralTypeSchema } from "@flyte-ts/idl/flyteidl/core/types_pb";
import type { ArrayNode, BranchNode, GateNode, Node, WorkflowNode } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { mismatchingTypes, noGateCondition, taskNotFound, valueRequired, workflowNotFound } from "../error/errors.js";
import { checkBindings } from "./bindings.js";
import { type Interface, NO_VARIABLES, type NodeBuilder, type Variables, type WorkflowBuilder } from "./builder.js";
import { identifierText, keyOf } from "../references/identifier.js";
import { armsOf } from "../references/nodes.js";

/**
 * Returns a node's interface: its task's, its launch plan's, its sub-workflow's, or that of its
 * kind. Undefined after an error. Arms of a branch get their full ids here, `{branch}-{arm}`.
 */
export function interfaceOf(workflow: WorkflowBuilder, builder: NodeBuilder): Interface | undefined {
  if (builder.interface !== undefined) return builder.interface;
  let result: Interface | undefined;
  const ok = workflow.errors.addsNoErrors(() => {
    result = targetInterface(workflow, builder);
    if (result !== undefined) checkVariables(workflow, builder.node.id, result);
  });
  if (ok) builder.interface = result;
  return builder.interface;
}

/** Every variable needs a name and a type. */
export function checkVariables(workflow: WorkflowBuilder, nodeId: string, { inputs, outputs }: Interface): void {
  for (const variables of [inputs, outputs]) {
    for (const [name, { type }] of variables) {
      if (name === "") workflow.errors.add(valueRequired(nodeId, "paramName"));
      if (type === undefined) workflow.errors.add(valueRequired(nodeId, "param.Type"));
    }
  }
}

function targetInterface(workflow: WorkflowBuilder, builder: NodeBuilder): Interface | undefined {
  const { node } = builder;
  switch (node.target.case) {
    case "taskNode": {
      const reference = node.target.value.reference;
      if (reference.case === undefined) return fail(workflow, valueRequired(node.id, "TaskNode.ReferenceId"));
      return taskInterface(workflow, node.id, reference.value);
    }
    case "workflowNode":
      return workflowInterface(workflow, node, node.target.value);
    case "branchNode":
      return branchInterface(workflow, builder, node.target.value);
    case "gateNode":
      return gateInterface(workflow, builder, node.target.value);
    case "arrayNode":
      return arrayInterface(workflow, node, node.target.value);
    case undefined:
      return fail(workflow, valueRequired(node.id, "Target"));
  }
}

function fail(workflow: WorkflowBuilder, error: Parameters<WorkflowBuilder["errors"]["add"]>[0]): undefined {
  workflow.errors.add(error);
}

function taskInterface(workflow: WorkflowBuilder, nodeId: string, id: Identifier): Interface | undefined {
  const { tasks, interfaces } = workflow.context;
  const task = tasks.get(keyOf(id));
  if (task === undefined) return fail(workflow, taskNotFound(nodeId, identifierText(id)));
  return interfaces.interfaceOf(task.interface);
}

function workflowInterface(workflow: WorkflowBuilder, node: Node, { reference }: WorkflowNode): Interface | undefined {
  const { interfaces, launchPlans, subWorkflows } = workflow.context;
  switch (reference.case) {
    case "launchplanRef": {
      const launchPlan = launchPlans.get(keyOf(reference.value));
      if (launchPlan === undefined) return fail(workflow, workflowNotFound(node.id, identifierText(reference.value)));
      const bound = new Set(node.inputs.map((binding) => binding.var));
      const inputs = new Map<string, Variable>();
      for (const [name, { var: variable, behavior }] of Object.entries(launchPlan.expectedInputs.parameters)) {
        const required = behavior.case === "required" && behavior.value;
        if (Object.hasOwn(launchPlan.fixedInputs.literals, name) || (!required && !bound.has(name))) continue;
        inputs.set(name, variable ?? create(VariableSchema));
      }
      return { inputs, outputs: interfaces.variables(launchPlan.expectedOutputs) };
    }
    case "subWorkflowRef": {
      const template = subWorkflows.get(keyOf(reference.value));
      if (template === undefined) return fail(workflow, workflowNotFound(node.id, identifierText(reference.value)));
      if (template.interface === undefined) return fail(workflow, valueRequired(node.id, "WorkflowNode.Template.Interface"));
      return interfaces.interfaceOf(template.interface);
    }
    case undefined:
      return fail(workflow, workflowNotFound(node.id, "<nil>/<nil>"));
  }
}

/**
 * Inputs are the bound variables, for the conditions; outputs are those that all arms have, which
 * must agree on their types.
 */
function branchInterface(workflow: WorkflowBuilder, builder: NodeBuilder, { ifElse }: BranchNode): Interface | undefined {
  const { node } = builder;
  const { errors } = workflow;
  if (ifElse === undefined) return fail(workflow, valueRequired(node.id, "Branch.IfElse"));
  if (ifElse.case === undefined) return fail(workflow, valueRequired(node.id, "Branch.IfElse.Case"));
  if (ifElse.case.thenNode === undefined) return fail(workflow, valueRequired(node.id, "Branch.IfElse.Case.ThenNode"));
  if (ifElse.other.some((other) => other.thenNode === undefined)) errors.add(valueRequired(node.id, "IfElse.Case.ThenNode"));
  const arms = armsOf(ifElse);
  if (!builder.armsNamed) for (const arm of arms) arm.id = `${node.id}-${arm.id}`;
  builder.armsNamed = true;
  let outputs: Variables | undefined;
  for (const arm of arms) {
    const result = interfaceOf(workflow, workflow.builderOf(arm));
    if (result !== undefined) outputs = outputs === undefined ? result.outputs : commonOutputs(workflow, arm.id, outputs, result.outputs);
  }
  const inputs = checkBindings(workflow, builder, node.inputs, { declared: undefined, edges: "upstream" });
  return outputs && { inputs, outputs };
}

function commonOutputs(workflow: WorkflowBuilder, armId: string, previous: Variables, arm: Variables): Variables {
  const shared = [...previous].filter(([name]) => arm.has(name));
  for (const [name, { type: expected }] of shared) {
    const actual = arm.get(name)?.type;
    if (expected === undefined || actual === undefined || equals(LiteralTypeSchema, expected, actual)) continue;
    workflow.errors.add(mismatchingTypes(armId, name, actual, expected));
  }
  return new Map(shared);
}

function gateInterface(workflow: WorkflowBuilder, builder: NodeBuilder, { condition }: GateNode): Interface | undefined {
  const { id, inputs } = builder.node;
  switch (condition.case) {
    case "approve": {
      // An approval passes its inputs on unchanged.
      const bound = checkBindings(workflow, builder, inputs, { declared: undefined, edges: "upstream" });
      return { inputs: bound, outputs: bound };
    }
    case "signal": {
      const { type, outputVariableName } = condition.value;
      if (type === undefined) return fail(workflow, valueRequired(id, "GateNode.Signal.Type"));
      if (outputVariableName === "") return fail(workflow, valueRequired(id, "GateNode.Signal.OutputVariableName"));
      return { inputs: NO_VARIABLES, outputs: new Map([[outputVariableName, create(VariableSchema, { type })]]) };
    }
    case "sleep":
      return { inputs: NO_VARIABLES, outputs: NO_VARIABLES };
    case undefined:
      return fail(workflow, noGateCondition(id));
  }
}

/**
 * Returns the interface of the inner node as it is, because clients register the task of a map task
 * with lists. With `liftArrayInterfaces` and the node's flag, turns inputs and outputs into lists,
 * except for bound inputs.
 */
function arrayInterface(workflow: WorkflowBuilder, node: Node, array: ArrayNode): Interface | undefined {
  const inner = array.node;
  if (inner === undefined) return fail(workflow, valueRequired("", "Target"));
  const lifts = workflow.context.liftArrayInterfaces && array.isOriginalSubNodeInterface === true;
  if (!lifts) return interfaceOf(workflow, workflow.builderOf(inner));
  // Inputs without a default in the launch plan are bound at the array node, not at the inner node.
  const result = targetInterface(workflow, workflow.builderOf({ ...inner, inputs: node.inputs }));
  const boundInputs = new Set(array.boundInputs);
  return result && { inputs: toLists(result.inputs, boundInputs), outputs: toLists(result.outputs, new Set()) };
}

function toLists(variables: Variables, except: ReadonlySet<string>): Variables {
  return new Map([...variables].map(([name, variable]) => [name, except.has(name) ? variable : toList(variable)]));
}

function toList(variable: Variable): Variable {
  if (variable.type === undefined) return variable;
  return { ...variable, type: create(LiteralTypeSchema, { type: { case: "collectionType", value: variable.type } }) };
}
