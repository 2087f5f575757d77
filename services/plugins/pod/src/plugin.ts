import { definePlugin, type Plugin } from "@flyte-ts/task-plugin";
import type { PodController } from "./pod-controller.js";

/**
 * Runs tasks of several types as pods; `plugin_identifier` has the names of Go Flyte's two plugins.
 *
 * @throws RangeError when `taskTypes` is empty or has duplicates.
 */
export function podPlugin(controller: PodController, taskTypes: readonly string[]): Plugin {
  return definePlugin({
    name: "container",
    taskTypes,
    pluginIdentifierFor: (taskType) => (taskType === "sidecar" ? "sidecar" : "container"),
    start: (host) => controller.start(host),
    stop: () => controller.stop(),
    reconcile: (request) => controller.reconcile(request),
    abort: (request) => controller.abort(request),
    listAttempts: (workflow) => controller.listAttempts(workflow),
    finalize: (request) => controller.finalize(request),
  });
}
