import type { TaskExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";

/** Text key of a task attempt, unique within its execution. */
export function taskKey(id: TaskExecutionIdentifier): string {
  const task = id.taskId;
  return JSON.stringify([
    id.nodeExecutionId?.nodeId ?? "",
    id.retryAttempt,
    task?.project ?? "",
    task?.domain ?? "",
    task?.name ?? "",
    task?.version ?? "",
  ]);
}
