import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { LogFields } from "@flyte-ts/telemetry";

/** Log fields of an attempt. */
export function attemptLogFields({ id, workflowKey, generatedName }: TaskRequest): LogFields {
  return {
    workflow: workflowKey,
    node: id?.nodeExecutionId?.nodeId ?? "",
    attempt: id?.retryAttempt ?? 0,
    object: generatedName,
  };
}
