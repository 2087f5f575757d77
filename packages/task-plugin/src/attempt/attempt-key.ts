import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";

/**
 * Key of one attempt of one task: its generated name is unique within the namespace, since it names
 * the attempt's objects there.
 */
export function attemptKey(request: Pick<TaskRequest, "namespace" | "generatedName">): string {
  return `${request.namespace}/${request.generatedName}`;
}
