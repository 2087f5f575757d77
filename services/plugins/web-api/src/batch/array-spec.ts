import { ArrayJobSchema } from "@flyte-ts/idl/flyteidl/plugins/array_job_pb";
import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { badTask } from "../task/bad-task.js";
import { readCustom } from "../task/query-task.js";

/** Task type of arrays. */
export const CONTAINER_ARRAY = "container_array";

export interface ArraySpec {
  readonly isArray: boolean;
  readonly size: number;
  readonly minSuccesses: number;
}

/**
 * Size of the task: 1, or that of a `container_array` (ArrayJob).
 * @throws PermanentFailure for a size that the API or the installation does not allow.
 */
export function arraySpec(template: TaskTemplate | undefined, maxArraySize: number): ArraySpec {
  if (template?.type !== CONTAINER_ARRAY) return { isArray: false, size: 1, minSuccesses: 1 };
  const { size: declared, successCriteria } = readCustom(ArrayJobSchema, template);
  const size = Number(declared);
  if (size < 1 || size > maxArraySize) throw badTask(`the array has ${size} items; 1 to ${maxArraySize} are allowed (batch.maxArraySize)`);
  const minSuccesses = minSuccessesOf(successCriteria, size);
  return { isArray: true, size, minSuccesses: Math.min(size, Math.max(0, minSuccesses)) };
}

function minSuccessesOf(criteria: { case?: string | undefined; value?: bigint | number | undefined }, size: number): number {
  if (criteria.case === "minSuccesses") return Number(criteria.value);
  // The ratio is a 32-bit float: 0.1 of 10 is a little more than 1.
  if (criteria.case === "minSuccessRatio") return Math.ceil(Number(criteria.value) * size - 1e-6 * size);
  return size;
}
