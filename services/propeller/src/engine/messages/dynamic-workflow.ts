import { create } from "@bufbuild/protobuf";
import { taskUniqueId } from "@flyte-ts/domain/name";
import { type Identifier, IdentifierSchema, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { WorkflowModel } from "@flyte-ts/workflow-crd";
import type { RuntimeNode } from "../graph/runtime.js";

/** Identifier of the workflow that the node's current attempt produced; deterministic. */
export function dynamicWorkflowId(workflow: WorkflowModel, node: RuntimeNode): Identifier {
  const { project, domain } = workflow.executionId;
  const version = taskUniqueId({ execution: workflow.name, nodeUniqueId: node.uniqueId, attempt: node.attempt });
  return create(IdentifierSchema, { resourceType: ResourceType.WORKFLOW, project, domain, name: `dynamic_${node.id}`, version });
}
