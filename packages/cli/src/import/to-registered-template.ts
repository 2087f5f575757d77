import { clone } from "@bufbuild/protobuf";
import { type WorkflowTemplate, WorkflowTemplateSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";

/** Nodes that compilation adds to the user's; their names cannot be registered. */
const COMPILER_NODES = new Set(["start-node", "end-node"]);

/** Restores the registered template from a compiled one. */
export function toRegisteredTemplate(compiled: WorkflowTemplate): WorkflowTemplate {
  const template = clone(WorkflowTemplateSchema, compiled);
  template.nodes = template.nodes.filter(({ id }) => !COMPILER_NODES.has(id));
  for (const node of template.nodes) node.upstreamNodeIds = node.upstreamNodeIds.filter((id) => !COMPILER_NODES.has(id));
  return template;
}
