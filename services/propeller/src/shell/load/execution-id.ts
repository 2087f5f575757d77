import { create } from "@bufbuild/protobuf";
import { executionNamespace } from "@flyte-ts/domain/name";
import { type WorkflowExecutionIdentifier, WorkflowExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { KubeObject } from "@flyte-ts/kubernetes";
import { DOMAIN_LABEL, PROJECT_LABEL } from "@flyte-ts/workflow-crd";

/**
 * Derives the execution of a resource from its name and labels, without reading its content.
 * Undefined where the labels of project and domain are missing or belong to another namespace. The
 * execution label is ignored: Go FlyteAdmin gives a child execution the label of its parent.
 *
 * @param namespaceTemplate gives the namespace of a project and domain.
 */
export function executionIdOf(
  { namespace, name, labels }: KubeObject["metadata"],
  namespaceTemplate: string,
): WorkflowExecutionIdentifier | undefined {
  const { [PROJECT_LABEL]: project, [DOMAIN_LABEL]: domain } = labels ?? {};
  if (project === undefined || domain === undefined || executionNamespace(project, domain, namespaceTemplate) !== namespace)
    return undefined;
  return create(WorkflowExecutionIdentifierSchema, { project, domain, name });
}
