import { sanitizeLabelValue } from "@flyte-ts/domain/name";
import type { WorkflowExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { DOMAIN_LABEL, EXECUTION_ID_LABEL, PROJECT_LABEL, WORKFLOW_NAME_LABEL } from "./resource.js";

/** Labels that identify the execution and workflow of a resource. */
export function identityLabels(
  { project, domain, name }: WorkflowExecutionIdentifier,
  workflowName: string,
): Readonly<Record<string, string>> {
  return {
    [EXECUTION_ID_LABEL]: name,
    [PROJECT_LABEL]: project,
    [DOMAIN_LABEL]: domain,
    [WORKFLOW_NAME_LABEL]: sanitizeLabelValue(workflowName),
  };
}
