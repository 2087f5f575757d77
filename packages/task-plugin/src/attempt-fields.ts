import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { LogFields } from "@flyte-ts/telemetry";

/** The attempt that a log line is about. */
export function attemptFields({ id, workflowKey, generatedName }: TaskRequest): LogFields {
  return {
    workflow: workflowKey,
    node: id?.nodeExecutionId?.nodeId ?? "",
    attempt: id?.retryAttempt ?? 0,
    object: generatedName,
  };
}
