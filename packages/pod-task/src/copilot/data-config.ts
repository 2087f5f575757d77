import type { DataLoadingConfig } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";

/**
 * Returns the task's data loading configuration; undefined for tasks that move their data
 * themselves.
 */
export function dataConfig({ template }: TaskRequest): DataLoadingConfig | undefined {
  return template?.target.case === "container" || template?.target.case === "k8sPod" ? template.target.value.dataConfig : undefined;
}
