import type { CreatedTask } from "./created-task.js";

/** Fields of calls that name a task, with the type's old field. */
export function taskRef({ taskType, version, resourceMeta }: CreatedTask) {
  return { taskType, taskCategory: { name: taskType, version }, resourceMeta };
}
