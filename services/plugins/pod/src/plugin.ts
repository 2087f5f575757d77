import { type OnePodConfig, onePodTaskType } from "@flyte-ts/pod-task/one-pod";
import { definePlugin, type Plugin } from "@flyte-ts/task-plugin";
import type { PodController } from "./pod-controller.js";

interface ServedTypes {
  readonly taskTypes: readonly string[];
  readonly onePod: OnePodConfig;
}

/**
 * Runs tasks of several types as pods. `plugin_identifier` has the names of Go Flyte's two plugins,
 * and the task type for tasks of operators that run as one pod.
 *
 * @throws RangeError when there is no task type, or one twice.
 */
export function podPlugin(controller: PodController, { taskTypes, onePod }: ServedTypes): Plugin {
  return definePlugin({
    name: "container",
    taskTypes: [...taskTypes, ...onePod.taskTypes],
    pluginIdentifierFor: (taskType) => onePodTaskType(taskType, onePod) ?? (taskType === "sidecar" ? "sidecar" : "container"),
    start: (host) => controller.start(host),
    drain: () => controller.drain(),
    stop: () => controller.stop(),
    reconcile: (request) => controller.reconcile(request),
    abort: (request) => controller.abort(request),
    listAttempts: (workflow) => controller.listAttempts(workflow),
    finalize: (request) => controller.finalize(request),
  });
}
