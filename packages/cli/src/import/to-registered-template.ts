import { clone } from "@bufbuild/protobuf";
import { isReservedNode } from "@flyte-ts/domain/graph";
import { type WorkflowTemplate, WorkflowTemplateSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";

/** Restores the registered template from a compiled one. */
export function toRegisteredTemplate(compiled: WorkflowTemplate): WorkflowTemplate {
  const template = clone(WorkflowTemplateSchema, compiled);
  template.nodes = template.nodes.filter(({ id }) => !isReservedNode(id));
  for (const node of template.nodes) node.upstreamNodeIds = node.upstreamNodeIds.filter((id) => !isReservedNode(id));
  return template;
}
