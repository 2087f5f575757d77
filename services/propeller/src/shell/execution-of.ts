import { create } from "@bufbuild/protobuf";
import { executionNamespace } from "@flyte-ts/domain";
import { type WorkflowExecutionIdentifier, WorkflowExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { KubeObject } from "@flyte-ts/kubernetes";
import { DOMAIN_LABEL, EXECUTION_ID_LABEL, PROJECT_LABEL } from "@flyte-ts/workflow-crd";

/**
 * Tells the execution of a resource by its labels, for a resource whose content is not read. Undefined where labels are missing, or name
 * an execution of another namespace or name than the resource's.
 *
 * @param namespaceTemplate gives the namespace of a project and domain.
 */
export function executionIdOf(
  { namespace, name: resourceName, labels }: KubeObject["metadata"],
  namespaceTemplate: string,
): WorkflowExecutionIdentifier | undefined {
  const { [PROJECT_LABEL]: project, [DOMAIN_LABEL]: domain, [EXECUTION_ID_LABEL]: name } = labels ?? {};
  if (project === undefined || domain === undefined || name === undefined) return undefined;
  if (name !== resourceName || executionNamespace(project, domain, namespaceTemplate) !== namespace) return undefined;
  return create(WorkflowExecutionIdentifierSchema, { project, domain, name });
}
