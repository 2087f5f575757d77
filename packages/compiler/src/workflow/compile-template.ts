import { clone, create } from "@bufbuild/protobuf";
import { END_NODE, isReservedNode, START_NODE } from "@flyte-ts/domain/graph";
import { compareText } from "@flyte-ts/domain/type";
import { type CompiledWorkflow, CompiledWorkflowSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { TypedInterfaceSchema, VariableMapSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { NodeSchema, type WorkflowTemplate, WorkflowTemplateSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { cycle, noNodes, unreachable } from "../error/errors.js";
import { NO_VARIABLES, type CompileContext, WorkflowBuilder } from "./builder.js";
import { identifierText } from "../references/identifier.js";
import { checkNode, linkNode } from "./node.js";
import { checkVariables } from "./node-interface.js";

/**
 * Checks one workflow and links its graph: start and end nodes are added in front, each node
 * follows those that it references or is bound to, nodes without upstream follow the start, and
 * nodes without downstream lead to the end. `context` must hold the definitions that the workflow
 * references. Returns undefined after an error. Nodes are checked in the order of the template, and
 * a branch or an approval may only be bound to nodes before it.
 */
export function compileTemplate(source: WorkflowTemplate, context: CompileContext): CompiledWorkflow | undefined {
  const { errors, interfaces, mutateTemplates } = context;
  if (source.nodes.length === 0) {
    errors.add(noNodes(identifierText(source.id)));
    return undefined;
  }
  const template = mutateTemplates ? { ...source } : clone(WorkflowTemplateSchema, source);
  template.interface = create(TypedInterfaceSchema, {
    inputs: template.interface?.inputs ?? create(VariableMapSchema),
    outputs: template.interface?.outputs ?? create(VariableMapSchema),
  });
  const interfaceVariables = interfaces.interfaceOf(template.interface);
  const workflow = new WorkflowBuilder(context);
  if (!errors.addsNoErrors(() => checkVariables(workflow, START_NODE, interfaceVariables))) return undefined;

  const start = workflow.builderOf(create(NodeSchema, { id: START_NODE }));
  start.interface = { inputs: NO_VARIABLES, outputs: interfaceVariables.inputs };
  const end = workflow.builderOf(create(NodeSchema, { id: END_NODE }));
  end.node.inputs = template.outputs;
  end.interface = { inputs: interfaceVariables.outputs, outputs: NO_VARIABLES };

  const builders = template.nodes.map((node) => workflow.builderOf(node));
  template.nodes = [start.node, end.node];
  workflow.addNode(start);
  workflow.addNode(end);
  const ok = errors.addsNoErrors(() => {
    for (const builder of builders) {
      if (workflow.addNode(builder)) template.nodes.push(builder.node);
      checkNode(workflow, builder);
    }
    const ids = [...workflow.nodeIds()].sort(compareText);
    for (const id of ids) {
      const builder = id === START_NODE ? undefined : workflow.node(id);
      if (builder !== undefined) linkNode(workflow, builder, "both");
    }
    if (template.failureNode !== undefined) {
      const failure = workflow.builderOf(template.failureNode);
      checkNode(workflow, failure);
      linkNode(workflow, failure, "upstream");
    }
    connectToStartAndEnd(workflow, ids);
    checkReachable(workflow, ids);
  });
  return ok ? create(CompiledWorkflowSchema, { template, connections: workflow.graph.connections() }) : undefined;
}

function connectToStartAndEnd({ graph }: WorkflowBuilder, ids: readonly string[]): void {
  for (const id of ids) {
    if (isReservedNode(id)) continue;
    if (!graph.hasUpstream(id)) graph.addEdge(START_NODE, id);
    if (!graph.hasDownstream(id)) graph.addEdge(id, END_NODE);
  }
}

function checkReachable({ graph, errors }: WorkflowBuilder, ids: readonly string[]): void {
  const traversal = graph.findCycleOrVisited();
  if ("cycle" in traversal) {
    errors.add(cycle(START_NODE, traversal.cycle));
    return;
  }
  const unvisited = ids.filter((id) => id !== END_NODE && !traversal.visited.has(id));
  if (unvisited.length > 0) errors.add(unreachable(START_NODE, unvisited));
}
