import type { Agent } from "@flyte-ts/idl/flyteidl/admin/agent_pb";

/** One task type and version that an endpoint announces. */
export interface AnnouncedType {
  readonly taskType: string;
  readonly version: number;
  /** True for a synchronous connector, which runs a task within one call. */
  readonly isSync: boolean;
}

/**
 * Lists the task types of an endpoint's connectors. Old connectors name types without a version,
 * which counts as 0. When two connectors have the same type and version, the first counts.
 */
export function announcedTypes(agents: readonly Agent[]): readonly AnnouncedType[] {
  const types = new Map<string, AnnouncedType>();
  for (const { isSync, supportedTaskCategories, supportedTaskTypes } of agents) {
    const categories = [...supportedTaskCategories, ...supportedTaskTypes.map((name) => ({ name, version: 0 }))];
    for (const { name: taskType, version } of categories) {
      const key = `${version} ${taskType}`;
      if (taskType !== "" && !types.has(key)) types.set(key, { taskType, version, isSync });
    }
  }
  return [...types.values()];
}
