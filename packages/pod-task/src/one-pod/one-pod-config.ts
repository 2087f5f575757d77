/** Task types that can run as one pod each instead of by an operator. */
export const ONE_POD_TASK_TYPES = ["spark", "ray", "dask"] as const;

export type OnePodTaskType = (typeof ONE_POD_TASK_TYPES)[number];

/** Settings of tasks that run as one pod, because the cluster has no operator for them. */
export interface OnePodConfig {
  readonly taskTypes: readonly OnePodTaskType[];
  /** Memory limit of such a pod, unless its task requests memory. */
  readonly memory: string;
  /**
   * Program of an init container that installs the packages of the task's type; the type is its
   * last argument. Empty: the image has the packages.
   */
  readonly installCommand: readonly string[];
  /** Variables of that init container. */
  readonly installEnv: Readonly<Record<string, string>>;
}

/** Returns the type of a task that runs as one pod; undefined for other tasks. */
export function onePodTaskType(taskType: string | undefined, config: OnePodConfig | undefined): OnePodTaskType | undefined {
  return config?.taskTypes.find((type) => type === taskType);
}
