import { create } from "@bufbuild/protobuf";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Binding } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type Node, WorkflowMetadata_OnFailurePolicy as Policy, WorkflowTemplateSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { typedInterfaceOf } from "../codec/literal-type.js";
import { isRecord } from "../codec/primitive.js";
import { definitionOf, type Interface, SINGLE_OUTPUT, shownName, type WorkflowDefinition } from "../entity/definition.js";
import { GraphError } from "../entity/errors.js";
import { type AnyType, described, type Fields, mayBeAbsent, withoutDefault } from "../type/type.js";
import { bindAll } from "./binding.js";
import type { BuiltWorkflow, Compilation } from "./compilation.js";
import { Graph, within } from "./graph.js";
import { makeNode, metadataOf, targetOf } from "./node.js";
import { inputReferences, makeReference } from "./reference.js";
import { subWorkflowsOf } from "./sub-workflows.js";

/** Builds the graph of a workflow. */
export function buildWorkflow(definition: WorkflowDefinition, compilation: Compilation): BuiltWorkflow {
  const name = compilation.name(definition);
  const graph = new Graph(compilation, name);
  const result = within(graph, () => definition.build(inputReferences(definition.inputs)));
  const failureNode = failureNodeOf(definition, graph);
  const template = create(WorkflowTemplateSchema, {
    id: compilation.id(definition, ResourceType.WORKFLOW),
    metadata: {
      onFailure: definition.failurePolicy === "fail-immediately" ? Policy.FAIL_IMMEDIATELY : Policy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE,
    },
    metadataDefaults: { interruptible: definition.interruptible ?? false },
    interface: typedInterfaceOf(definition),
    nodes: graph.nodes,
    outputs: bindOutputs(definition, result, name),
    ...(failureNode !== undefined && { failureNode }),
  });
  return { template, subWorkflows: subWorkflowsOf(template, compilation) };
}

/** Binds the outputs of a graph to what its function returned. */
export function bindOutputs({ outputs, single }: Omit<Interface, "inputs">, result: unknown, name: string): Binding[] {
  const values = single ? { [SINGLE_OUTPUT]: result } : result;
  const names = Object.keys(outputs);
  if (names.length === 0) return [];
  if (!isRecord(values)) throw new GraphError(`${name} must return an object with ${names.join(", ")}`);
  const missing = names.find((output) => values[output] === undefined && !mayBeAbsent(outputs[output] as AnyType));
  if (missing !== undefined) throw new GraphError(`${name} does not return its output ${missing}`);
  const unknown = Object.keys(values).find((output) => !Object.hasOwn(outputs, output));
  if (unknown !== undefined) throw new GraphError(`${name} returns ${unknown}, which is not among its outputs ${names.join(", ")}`);
  return bindAll(outputs, values);
}

const ERROR_INPUT = "err";

function failureNodeOf(definition: WorkflowDefinition, graph: Graph): Node | undefined {
  if (definition.onFailure === undefined) return undefined;
  const handler = definitionOf(definition.onFailure);
  const values = within(graph, () =>
    Object.fromEntries(Object.entries(handler.inputs).map(([name, type]) => [name, handlerInput(name, type, definition.inputs)])),
  );
  const foreign = Object.keys(values).find(
    (name) => name !== ERROR_INPUT && values[name] === undefined && !mayBeAbsent(handler.inputs[name] as AnyType),
  );
  if (foreign !== undefined)
    throw new GraphError(`${shownName(handler)} handles failures and needs the input ${foreign}, which ${graph.name} does not have`);
  const options = {};
  return makeNode({
    id: "fn0",
    inputs: bindAll(handler.inputs, values),
    metadata: metadataOf(handler, graph.compilation, options),
    target: targetOf(handler, graph, options),
  });
}

/** Returns the value of an input of a failure handler: that of the workflow, or None for `err`. */
function handlerInput(name: string, type: AnyType, inputs: Fields): unknown {
  if (Object.hasOwn(inputs, name)) {
    return makeReference({ nodeId: "", variable: name, path: [], type: withoutDefault(inputs[name] as AnyType) });
  }
  const shown = described(type);
  if (name === ERROR_INPUT && shown.kind === "error")
    throw new GraphError(`the input err of a failure handler must be t.optional(t.error)`);
  return undefined;
}
