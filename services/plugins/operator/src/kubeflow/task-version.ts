import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { badSpecification } from "../build/custom.js";

/**
 * Version of the task's messages: 0 for the older ones, 1 for those in `kubeflow/`.
 *
 * @throws PermanentFailure for any other
 */
export function taskVersion({ template }: TaskRequest): 0 | 1 {
  const version = template?.taskTypeVersion ?? 0;
  if (version === 0 || version === 1) return version;
  throw badSpecification(`unsupported task type version ${version} of ${template?.type}; 0 and 1 are supported`);
}
