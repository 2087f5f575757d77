import { clone } from "@bufbuild/protobuf";
import { type WorkflowTemplate, WorkflowTemplateSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";

/** Nodes that compiling puts around those of the user; their names cannot be registered. */
const COMPILED = new Set(["start-node", "end-node"]);

/** The template that somebody registered, from the one that compiling made of it. */
export function asRegistered(compiled: WorkflowTemplate): WorkflowTemplate {
  const template = clone(WorkflowTemplateSchema, compiled);
  template.nodes = template.nodes.filter(({ id }) => !COMPILED.has(id));
  for (const node of template.nodes) node.upstreamNodeIds = node.upstreamNodeIds.filter((id) => !COMPILED.has(id));
  return template;
}
