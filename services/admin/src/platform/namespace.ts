import { executionNamespace } from "@flyte-ts/domain/name";

/** Namespace of an execution's resources, from the configured template. */
export function namespaceOf(template: string, project: string, domain: string): string {
  return executionNamespace(project, domain, template);
}
