import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";

/** Names one attempt of one task: its generated name is unique within the namespace, for it names what the attempt creates there. */
export function attemptKey(request: Pick<TaskRequest, "namespace" | "generatedName">): string {
  return `${request.namespace}/${request.generatedName}`;
}
