import type { TaskExecutionJson } from "@flyte-ts/idl/flyteidl/admin/task_execution_pb";
import { taskTitle } from "../../format/task-title.js";

/** Names a node by its task and its id; by its id alone while no attempt is known. */
export function nodeTitle(node: string, attempts: readonly TaskExecutionJson[] | undefined): string {
  const task = taskTitle(attempts?.[0]?.id?.taskId?.name ?? "");
  return task === "" || task === node ? node : `${task} · ${node}`;
}
